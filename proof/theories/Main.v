(* Main.v -- the theorems

   Purpose   Each theorem in plain words, as Statement.v defines them, and where its proof is.
   Paper     section 6
   C++       a kernel is certified when [certify] says so of its certificate
   Trusted   nothing *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics Decode Expr Known Checker Invariant CheckerSound.
From Tally Require Import Bisimulation Legality Certificate Consequences Vectors SequentialOrder.
From Tally Require Import DeadlockFree Adequacy DataSound Opposite TwoLevel Words Fits FitsStep.
From Tally Require Import FitsSound Skip.
From Tally Require Import Statement.
From Tally Require FastChecker FastFits.

(* Code that the checker accepts and the kernel it was made for are bisimilar, for whatever the
   instructions compute and whatever the engines decide, together or apart. *)
Theorem accepted_code_is_bisimilar c : check c = true -> realises_its_kernel c.
Proof.
  intros K D C iop guard ctl d0 c0. destruct (check_sound c K) as [W R].
  exists (match_states D C (tables_of c) (signals_of c) (site_of c)).
  split; [now eapply match_initial|]. split; [intros s i M; apply (m_data _ _ _ _ _ _ _ M)|]. split.
  - intros s i a s' M St.
    destruct (forward _ _ _ _ _ _ _ _ _ _ R _ _ _ _ M St) as (i1 & i' & R1 & S1 & M').
    exists i'. split; auto. change a with ([] ++ a). eapply run_snoc; eauto.
  - intros s i a i' M St. exact (backward _ _ iop guard ctl _ _ _ _ _ R _ _ _ _ M St).
Qed.

(* It has the same visible runs, with the same results. *)
Theorem accepted_code_behaves_as_specified c : check c = true -> behaves_as_specified c.
Proof.
  intros K D C iop guard ctl d0 c0. destruct (check_sound c K) as [W R].
  intros tr d. exact (same_traces D C iop guard ctl _ _ _ _ _ W R d0 c0 tr d).
Qed.

(* It issues nothing early. *)
Theorem accepted_code_is_safe c : check c = true -> is_safe c.
Proof.
  intros K D C iop guard ctl d0 c0. destruct (check_sound c K) as [W R].
  intros tr i j i'.
  exact (issues_only_when_satisfied D C iop guard ctl _ _ _ _ _ W R d0 c0 tr i j i').
Qed.

(* It waits for nothing that the kernel does not wait for. *)
Theorem accepted_code_adds_no_waiting c : check c = true -> adds_no_waiting c.
Proof.
  intros K D C iop guard ctl d0 c0. destruct (check_sound c K) as [W R].
  intros tr i. exact (goes_on_as_specified D C iop guard ctl _ _ _ _ _ W R d0 c0 tr i).
Qed.

(* What [legal] decides, as the deadlock theorem needs it. *)
Lemma legal_facts c : legal c = true ->
  (exists hi, ranked (rank_of c) 0 (c_spec c) = Some hi) /\
  (exists hi, numbered 1 (c_spec c) = Some hi) /\
  (forall j d, In d (deps (tables_of c) j) -> is_placed (tables_of c) (prd d) = true /\
    distance_legal (tables_of c) (rank_of c) (is_branch c) (are_opposite c) (prd d) j (dist d)
        = true).
Proof.
  unfold legal. cbv zeta. repeat rewrite andb_true_iff. intros (((_ & H2) & HN) & H3).
  split; [|split].
  - destruct (ranked _ 0 (c_spec c)) as [hi|]; [eauto|discriminate].
  - destruct (numbered 1 (c_spec c)) as [hi|]; [eauto|discriminate].
  - intros j d Hd. rewrite forallb_forall in H3.
    assert (In (j, deps (tables_of c) j) (c_deps c)) as Hj.
    { unfold tables_of in *; cbn [deps] in *. unfold lookup_or in *.
      destruct (lookup j (c_deps c)) eqn:E; [|contradiction]. now apply lookup_In. }
    apply H3 in Hj. unfold deps_legal in Hj. rewrite forallb_forall in Hj.
    apply Hj in Hd. now apply andb_true_iff in Hd.
Qed.

(* Retirements are counted as seen. *)
Lemma retirements_counted c D C iop guard ctl d0 c0 tr s :
  spec_reaches c D C iop guard ctl d0 c0 tr s -> forall i, src s i = retirements i tr.
Proof.
  intros R i. enough (K : forall s0, run (spec_step c D C iop guard ctl) s0 tr s ->
                        src s i = src s0 i + retirements i tr) by exact (K _ R).
  clear R. induction 1 as [s|s a s1 tr s2 St R IH]; [unfold retirements, count_if; simpl; lia|].
  rewrite IH. unfold retirements. rewrite count_if_app.
  destruct St; unfold count_if; simpl; try lia.
  unfold upd. rewrite (Nat.eqb_sym i0 i). destruct (Nat.eqb_spec i i0) as [->|]; simpl; lia.
Qed.

(* The place of the next instruction, as control sees it. *)
Lemma next_is_walked c D C iop guard ctl d0 c0 : certify c = true -> forall tr s e,
  spec_reaches c D C iop guard ctl d0 c0 tr s ->
  exists n, walk C guard ctl (c_spec c) c0 e n (spos s e) (scs s e) (scnt s e).
Proof.
  intros K tr s e R. apply andb_true_iff in K as [KL KC]. destruct (check_sound c KC) as [W _].
  destruct (legal_facts c KL) as ([hi HR] & _).
  apply (si_reachable D C iop guard ctl _ _ _ d0 c0 W hi tr s HR R).
Qed.

(* The condition of the specification is the paper's equation 1. *)
Theorem condition_is_equation_1 c : certify c = true -> says_equation_1 c.
Proof.
  intros K D C iop guard ctl d0 c0 tr s e j cu co k d R Hp Hd m q.
  destruct (next_is_walked c D C iop guard ctl d0 c0 K tr s e R) as [n Wk].
  apply andb_true_iff in K as [KL KC]. destruct (check_sound c KC) as [W _].
  destruct (legal_facts c KL) as (_ & [hn HN] & HL). destruct (HL j d Hd) as [_ L].
  unfold sat, satisfied. rewrite (retirements_counted _ _ _ _ _ _ _ _ _ _ R).
  assert (Hj : In j (cur (spos s e))) by (rewrite Hp; now left).
  pose proof (path_of_consumer (tables_of c) C guard ctl (c_spec c) c0 W e n _ _ _ j Wk Hj) as PC.
  pose proof (counts_are_vectors (tables_of c) C guard ctl (c_spec c) c0 hn W HN _ _ _ _ _ Wk
                q (dist d) (retirements (prd d) tr)) as X.
  rewrite Hp in X, PC |- *. cbn [kon] in *. apply X.
  unfold distance_legal in L. fold q in L. rewrite PC in L.
  destruct (dist d); cbn [distance_placed]; auto; repeat rewrite andb_true_iff in L;
    split; apply inb_In; tauto.
Qed.

(* For element-wise distances, too, where the producer's loop lies directly in the shared one. *)
Theorem element_targets_are_vectors c : certify c = true -> says_equation_1_for_elements c.
Proof.
  intros K D C iop guard ctl d0 c0 e n x y m q s t i W Hd L.
  apply andb_true_iff in K as [KL KC]. destruct (check_sound c KC) as [WF _].
  destruct (legal_facts c KL) as (_ & [hn HN] & _).
  eapply element_is_vector; eauto.
Qed.

Lemma opposite_branches_of c a b : are_opposite c a b = true -> is_pair (c_spec c) a b.
Proof.
  unfold are_opposite, is_pair. intros H. apply existsb_exists in H as ((t & f) & Hx & E).
  rewrite orb_true_iff, !andb_true_iff, !Nat.eqb_eq in E.
  destruct E as [[-> ->]|[-> ->]]; auto.
Qed.

(* Where engines enter the producer's body alike, it says that all runs up to the target have
   retired, and no less. *)
Theorem condition_is_data_soundness c : certify c = true -> says_runs_have_retired c.
Proof.
  intros K D C iop guard ctl d0 c0 tr s e j cu co k d R Hp Hd [Al Al'].
  pose proof (condition_is_equation_1 c K D C iop guard ctl d0 c0 tr s e j cu co k d R Hp Hd) as E.
  cbv zeta in E. rewrite E. clear E.
  destruct (next_is_walked c D C iop guard ctl d0 c0 K tr s e R) as [n Wk].
  apply andb_true_iff in K as [KL KC]. destruct (check_sound c KC) as [W _].
  destruct (legal_facts c KL) as ([hr HR] & [hn HN] & HL). destruct (HL j d Hd) as [Pl L].
  assert (Hj : In j (cur (spos s e))) by (rewrite Hp; now left).
  pose proof (path_of_consumer (tables_of c) C guard ctl (c_spec c) c0 W e n _ _ _ j Wk Hj) as PC.
  pose proof (satisfied_means_retired (tables_of c) C guard ctl (c_spec c) c0 hn hr (rank_of c)
    (is_branch c) (are_opposite c) W HN HR e n _ _ _ j Wk Hj (prd d) (dist d) Pl L) as X.
  cbv zeta in X. rewrite Hp in X, PC. cbn [kon] in *. unfold all_retired, control. apply X; auto.
  intros b F O. unfold in_opposite_branches in O. rewrite PC in O.
  pose proof (opposite_not_ahead (tables_of c) (are_opposite c) C guard ctl (c_spec c) c0 hn W HN
    (opposite_branches_of c) e n _ _ _ b (home (tables_of c) (prd d)) (active k) Wk) as Y.
  rewrite Hp in Y. cbn [kon] in Y. apply Y; auto.
Qed.

(* So code that is accepted for a legal kernel has the data that its dependences are about. *)
Theorem certified_code_has_its_data c : certify c = true -> has_its_data c.
Proof.
  intros K D C iop guard ctl d0 c0 tr i j i' R St.
  pose proof K as K'. apply andb_true_iff in K' as [_ KC]. destruct (check_sound c KC) as [W RZ].
  destruct (code_run_matched D C iop guard ctl _ _ _ _ _ W RZ d0 c0 tr i R) as (s & Rs & M).
  inversion St as [| |x e j1 w cu co k Hp Hw| | |]; subst.
  pose proof (proj2 (issue_agrees D C _ _ _ _ _ RZ _ _ _ _ _ _ _ _ M Hp) Hw) as Sat.
  pose proof (m_pos _ _ _ _ _ _ _ M e) as Hs. rewrite Hp in Hs. unfold epos in Hs.
  cbn [cur cod kon efilter instr_of] in Hs.
  pose proof (m_wf _ _ _ _ _ _ _ M e) as (_ & _ & Wi). rewrite Hs in Wi. cbn [cur kon] in Wi.
  destruct (Wi j (or_introl eq_refl)) as [_ He]. rewrite He.
  destruct (next_is_walked c D C iop guard ctl d0 c0 K tr s e Rs) as [n Wk]. rewrite Hs in Wk.
  eexists n, _, _, _, _, _. split; [rewrite Hp; reflexivity|]. split; [exact Wk|]. intros d Hd Al.
  apply (condition_is_data_soundness c K D C iop guard ctl d0 c0 tr s e j _ _ _ d Rs Hs Hd Al).
  now apply Sat.
Qed.

(* A legal kernel does not deadlock when the engines agree on control flow. *)
Theorem legal_kernel_cannot_deadlock c : certify c = true -> kernel_cannot_deadlock c.
Proof.
  intros K D C iop guard ctl d0 c0 A tr s R N. apply andb_true_iff in K as [KL KC].
  destruct (check_sound c KC) as [W _]. destruct (legal_facts c KL) as ([hi HR] & _ & HL).
  exact (stuck_is_finished D C iop guard ctl _ _ _ d0 c0 W _ _ A hi HR HL tr s R N).
Qed.

(* Neither does code that is accepted for it. *)
Theorem certified_code_cannot_deadlock c : certify c = true -> code_cannot_deadlock c.
Proof.
  intros K D C iop guard ctl d0 c0 A tr i R N. pose proof K as K'.
  apply andb_true_iff in K' as [_ KC]. destruct (check_sound c KC) as [W RZ].
  destruct (stuck_only_if_specified D C iop guard ctl _ _ _ _ _ W RZ d0 c0 tr i R N)
    as (s & Rs & M & Ns).
  destruct (legal_kernel_cannot_deadlock c K D C iop guard ctl d0 c0 A tr s Rs Ns) as [F1 F2].
  split; [|intros q; rewrite <- (m_flight _ _ _ _ _ _ _ M); apply F2].
  intros e. pose proof (F1 e) as F. rewrite (m_pos _ _ _ _ _ _ _ M e) in F.
  destruct (ipos i e) as [cu co k] eqn:Hp. unfold epos in F. cbn [cur cod kon] in F.
  injection F as Fcu Fco Fk.
  assert (co = CNil) by (destruct co; simpl in Fco; congruence).
  assert (k = KStop) by (destruct k; simpl in Fk; congruence). subst.
  destruct cu as [|[j w|o|w] cu]; auto; exfalso.
  - discriminate.
  - eapply N. eapply i_regop. exact Hp.
  - destruct (match_wait D C _ _ _ _ _ RZ _ _ _ _ _ _ _ M Hp) as (_ & j & Nj & _).
    rewrite next_instr_erased in Nj. simpl in Fcu. rewrite Fcu in Nj. discriminate.
Qed.

(* Semaphores grow with the entries of their bodies, and no further. *)
Theorem semaphores_are_bounded c : certify c = true -> has_bounded_semaphores c.
Proof.
  intros K D C iop guard ctl d0 c0 B HB tr i w R.
  pose proof K as K'. apply andb_true_iff in K' as [_ KC]. destruct (check_sound c KC) as [W RZ].
  destruct (code_run_matched D C iop guard ctl _ _ _ _ _ W RZ d0 c0 tr i R) as (s & Rs & M).
  destruct (next_is_walked c D C iop guard ctl d0 c0 K tr s (s_engine (site_of c w)) Rs)
    as [n Wk].
  eapply Nat.le_trans; [exact (semaphore_bounded _ _ _ _ _ s i w M)|].
  unfold most_of. apply Nat.mul_le_mono_l, Nat.mul_le_mono_l. eapply HB; eauto.
Qed.

(* So, if following the code says so, its numbers fit. *)
Theorem numbers_of_followed_code_fit c : certify c = true -> fits_if_followed c.
Proof.
  intros K D C iop guard ctl d0 c0 M B HB F. unfold code_fits in F.
  repeat rewrite andb_true_iff in F. destruct F as ((F1 & F2) & F3). apply Nat.ltb_lt in F1.
  rewrite forallb_forall in F2, F3. pose proof K as K'. apply andb_true_iff in K' as [_ KC].
  destruct (check_sound c KC) as [W RZ].
  assert (SMALL : forall w, most_of B c w < M).
  { intros w. destruct (in_dec Nat.eq_dec w (map snd (c_signals c))) as [I|I].
    - apply in_map_iff in I as ([i v] & <- & I). apply F2 in I. now apply Nat.ltb_lt.
    - assert (NONE : forall xs, filter (raises (signals_of c) w) xs = []).
      { induction xs as [|x xs IH]; simpl; auto. unfold raises at 1.
        destruct (signals_of c x) as [v|] eqn:S; auto.
        destruct (Nat.eqb_spec v w) as [->|]; auto. exfalso. apply I, in_map_iff.
        apply lookup_In in S. exists (x, w). auto. }
      unfold most_of. rewrite NONE. simpl. lia. }
  apply (FitsSound.followed_code_fits M B D C iop guard ctl (tables_of c) (signals_of c) (c_spec
      c));
    [exact W|apply RZ|intros; eapply HB; eauto| |].
  - intros e. unfold check in KC. cbv zeta in KC. repeat rewrite andb_true_iff in KC.
    destruct KC as ((((_ & KW) & _) & _) & KE). apply Nat.leb_le in KW.
    rewrite forallb_forall in KE.
    assert (FOL : forall n, n <= c_engines c -> exists about inv finv A F AF,
              true_at_start A = true /\ stamped F /\ fit_code M B (path (tables_of c)) n
                about inv finv [ROOT] (at_start A) F (c_code c) = Some AF).
    { intros n Hn. assert (In n (seq 0 (S (c_engines c)))) as I by (apply in_seq; lia).
      specialize (F3 n I). specialize (KE n I). unfold engine_fits in F3. unfold engine_ok in KE.
      repeat rewrite andb_true_iff in KE. destruct KE as ((_ & Z) & _).
      match type of F3 with match ?x with _ => _ end = _ => destruct x as [AF|] eqn:E end;
        [|discriminate].
      eexists _, _, _, _, _, AF. split; [exact Z|]. split; [|exact E].
      apply renew_stamped, nothing_stamped. }
    destruct (le_lt_dec e (c_engines c)) as [L|L]; [now apply FOL|].
    destruct (FOL (c_engines c) (le_n _)) as (about & inv & finv & A & F & AF & Z & S & E).
    exists about, inv, finv, A, F, AF. split; auto. split; auto.
    rewrite (fit_code_beyond M B (tables_of c) e about inv finv (c_engines c)) by lia. exact E.
  - intros tr i w R. eapply Nat.le_lt_trans; [|exact (SMALL w)].
    exact (semaphores_are_bounded c K D C iop guard ctl d0 c0 B HB tr i w R).
Qed.

(* On a machine whose numbers wrap around, the code still does what the kernel says, as long as
   numbers fit ... *)
Theorem accepted_code_behaves_on_words c : check c = true -> behaves_as_specified_on_words c.
Proof.
  intros K D C iop guard ctl d0 c0 M HM F tr d.
  rewrite (accepted_code_behaves_as_specified c K D C iop guard ctl d0 c0 tr d).
  assert (Z : forall e r, iregs (iinit (D := D) (c_code c) d0 c0) e r = 0) by reflexivity.
  split.
  - intros (i & R & <-).
    destruct (word_run_follows M D C iop guard ctl _ _ _ HM F _ _ _ _ _ R (tracked_start _ _ _ _ _ _
        _ _ _)
                (in_step_start _ _ _ _ HM Z)) as (w & l & Rw & _ & S).
    exists w. split; auto. apply (is_data _ _ _ _ _ _ S).
  - intros (w & R & <-).
    destruct (word_run_followed M D C iop guard ctl _ _ _ HM F _ _ _ R _ _ (tracked_start _ _ _ _ _
        _ _ _ _)
                (in_step_start _ _ _ _ HM Z)) as (i & l & Ri & _ & S).
    exists i. split; auto. symmetry. apply (is_data _ _ _ _ _ _ S).
Qed.

(* ... and cannot deadlock either. *)
Theorem certified_code_cannot_deadlock_on_words c : certify c = true -> cannot_deadlock_on_words c.
Proof.
  intros K D C iop guard ctl d0 c0 M HM F A tr w R N.
  assert (Z : forall e r, iregs (iinit (D := D) (c_code c) d0 c0) e r = 0) by reflexivity.
  destruct (word_run_followed M D C iop guard ctl _ _ _ HM F _ _ _ R _ _ (tracked_start _ _ _ _ _ _
      _ _ _)
              (in_step_start _ _ _ _ HM Z)) as (i & l & Ri & T & S).
  destruct (certified_code_cannot_deadlock c K D C iop guard ctl d0 c0 A tr i Ri) as [F1 F2].
  - intros a i' St. destruct (word_follows M D C iop guard ctl _ _ _ HM F _ _ _ _ _ T S St)
      as (w' & Sw & _). exact (N _ _ Sw).
  - split; intros x; rewrite ?(is_pos _ _ _ _ _ _ S), ?(is_flight _ _ _ _ _ _ S); auto.
Qed.

(* An engine may leave out loops in which it has nothing to do: it does nothing that the kernel does
   not allow ... *)
Lemma lean_code_matched c D C iop guard ctl d0 c0 M skips alike :
  leaves_out_nothing_else c C guard ctl skips alike -> forall tr i,
  lean_reaches c D C iop guard ctl d0 c0 M skips tr i ->
  exists w, word_reaches c D C iop guard ctl d0 c0 M tr w /\ same D C alike i w /\
    all_kept D C skips i.
Proof.
  intros (S & B & W) tr i R. eapply skip_run_matched; eauto.
  - destruct B as [RF _]. constructor; auto.
  - intros e. split; [apply S|exact I].
Qed.

Lemma word_0_reaches c D C iop guard ctl d0 c0 tr w :
  word_reaches c D C iop guard ctl d0 c0 0 tr w -> code_reaches c D C iop guard ctl d0 c0 tr w.
Proof.
  unfold word_reaches, code_reaches. induction 1; econstructor; eauto.
  now apply unbounded_is_word_0.
Qed.

Theorem accepted_code_may_leave_out_loops c : check c = true -> may_leave_out_loops c.
Proof.
  intros K D C iop guard ctl d0 c0 M skips alike L HM tr i R.
  destruct (lean_code_matched c D C iop guard ctl d0 c0 M skips alike L tr i R) as (w & Rw & S & _).
  rewrite <- (sm_data _ _ _ _ _ S). destruct HM as [->|[HM F]].
  - apply (accepted_code_behaves_as_specified c K D C iop guard ctl d0 c0 tr (ids w)).
    exists w. split; auto. now apply word_0_reaches.
  - apply (accepted_code_behaves_on_words c K D C iop guard ctl d0 c0 M HM F tr (ids w)). eauto.
Qed.

(* ... and does not get stuck. *)
Theorem certified_code_cannot_deadlock_without_loops c : certify c = true ->
  cannot_deadlock_without_loops c.
Proof.
  intros K D C iop guard ctl d0 c0 M skips alike L HM A tr i R N.
  destruct (lean_code_matched c D C iop guard ctl d0 c0 M skips alike L tr i R)
    as (w & Rw & S & AK).
  assert (ST : forall a w', ~ word_step c D C iop guard ctl M w a w').
  { eapply skip_stuck; eauto. apply L. }
  assert (F : code_finished D C w).
  { destruct HM as [->|[HM F]].
    - apply (certified_code_cannot_deadlock c K D C iop guard ctl d0 c0 A tr w).
      + now apply word_0_reaches.
      + intros a w' St. apply (ST a w'). now apply unbounded_is_word_0.
    - exact (certified_code_cannot_deadlock_on_words c K D C iop guard ctl d0 c0 M HM F A tr w Rw
        ST). }
  destruct F as [F1 F2].
  split; intros x; [rewrite <- (sm_pos _ _ _ _ _ S)|rewrite <- (sm_flight _ _ _ _ _ S)]; auto.
Qed.

(* The checker that is run keeps its tables in maps, and decides the same. *)
Theorem fast_checker_is_the_checker c : FastChecker.certify_fast c = certify c.
Proof. apply FastChecker.certify_fast_right. Qed.

Theorem fast_bounds_are_the_bounds M B c : FastFits.code_fits_fast M B c = code_fits M B c.
Proof. apply FastFits.code_fits_fast_right. Qed.

(* What is replayed of a run is what the systems do, kernel and code, on every machine. *)
Theorem replays_are_runs c : is_replayed_as_it_runs c.
Proof.
  intros D C iop guard ctl d0 c0 M. split; intros.
  - apply Execute.spec_does_what_it_may.
  - apply Execute.code_does_what_it_may.
Qed.
