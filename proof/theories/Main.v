(* Main.v -- the theorems

   Purpose   Each theorem in plain words, as Statement.v defines them, and where its proof is.
   Paper     section 6
   C++       a kernel is certified when [certify] says so of its certificate
   Trusted   nothing *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics Decode Expr Checker Invariant CheckerSound Bisimulation.
From Tally Require Import Legality Certificate Consequences SequentialOrder DeadlockFree Statement.

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
  (forall j d, In d (deps (tables_of c) j) -> is_placed (tables_of c) (prd d) = true /\
    distance_legal (tables_of c) (rank_of c) (is_branch c) (are_opposite c) (prd d) j (dist d)
        = true).
Proof.
  unfold legal. cbv zeta. repeat rewrite andb_true_iff. intros ((_ & H2) & H3). split.
  - destruct (ranked _ 0 (c_spec c)) as [hi|]; [eauto|discriminate].
  - intros j d Hd. rewrite forallb_forall in H3.
    assert (In (j, deps (tables_of c) j) (c_deps c)) as Hj.
    { unfold tables_of in *; cbn [deps] in *. unfold lookup_or in *.
      destruct (lookup j (c_deps c)) eqn:E; [|contradiction]. now apply lookup_In. }
    apply H3 in Hj. unfold deps_legal in Hj. rewrite forallb_forall in Hj.
    apply Hj in Hd. now apply andb_true_iff in Hd.
Qed.

(* A legal kernel does not deadlock when the engines agree on control flow. *)
Theorem legal_kernel_cannot_deadlock c : certify c = true -> kernel_cannot_deadlock c.
Proof.
  intros K D C iop guard ctl d0 c0 A tr s R N. apply andb_true_iff in K as [KL KC].
  destruct (check_sound c KC) as [W _]. destruct (legal_facts c KL) as [[hi HR] HL].
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
