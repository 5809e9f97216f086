(* FitsSound.v -- code that [code_fits] accepts has numbers that fit

   Purpose   Facts and firm registers stay right along the code of each engine, on its own walk; so
             every wait reads a firm register. With the bound on semaphores that is what Words.v
             asks for.
   Paper     -
   C++       -
   Trusted   nothing *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics Maps Decode Expr Known Checker Invariant FactsSound.
From Tally Require Import CheckerSound Bisimulation Legality Certificate Vectors SequentialOrder.
From Tally Require Import Words Fits FirmSound FitsStep.

(** * Semaphores and counts are bounded by entries *)

(* At most one round of the signals of its body for each entry. *)
Theorem semaphore_bounded D C T signals sites (s : sstate D C) (i : istate D C) w :
  match_states D C T signals sites s i ->
  isem i w <= weight T (s_queue (sites w)) *
    (length (filter (raises signals w) (body T (s_body (sites w)) (s_engine (sites w)))) *
     tot (scnt s (s_engine (sites w))) (s_body (sites w))).
Proof.
  intros R. destruct (m_sema _ _ _ _ _ _ _ R w) as (q & _ & -> & E).
  apply (f_equal (@length _)) in E. rewrite cyc_length, app_length in E.
  apply Nat.mul_le_mono_l. lia.
Qed.

Section Counts.
  Variable T : tables.
  Variable C : Type.
  Variables (guard : engine -> loopid -> C -> bool) (ctl : engine -> loopid -> C -> C).
  Variable Ps : code instr.
  Variable c0 : engine -> C.
  Hypothesis HWF : well_formed T Ps.
  Notation walk := (walk C guard ctl Ps c0).

  Lemma sumH_once (h h' : nat -> loopid -> nat) p j : (forall i, i <> j -> h' i p = h i p) ->
    h' j p <= h j p + 1 -> forall n, sumH h' n p <= sumH h n p + 1.
  Proof.
    intros H1 H2.
    assert (K : forall n, n < j -> sumH h' n p = sumH h n p).
    { induction n; simpl; intros L; auto. rewrite IHn, H1 by lia. auto. }
    induction n as [|n IH]; [simpl; lia|]. cbn [sumH].
    destruct (Nat.eq_dec (S n) j) as [<-|N].
    - rewrite K by lia. lia.
    - rewrite (H1 _ N). lia.
  Qed.

  Lemma walk_counts e n p c m : walk e n p c m ->
    (forall l, trips (kon p) l <= tot m l) /\ (forall s d q, past m s d q <= tot m q).
  Proof.
    intros W. enough (K : (forall l, trips (kon p) l <= tot m l) /\
                          (forall s k q, sumH (ent m s) k q <= tot m q)).
    { destruct K as [K1 K2]. split; auto. intros. apply K2. }
    induction W as [|n i cu co k c m W IH|n p c m p' c' ev W [I1 I2] St]; auto.
    - split; [intros l; cbn; destruct (l =? ROOT); lia|]. intros s k q.
      assert (Z : sumH (fun _ _ => 0) k q = 0).
      { clear. induction k as [|k IH]; simpl; auto. now rewrite IH. }
      destruct (Nat.eqb_spec q ROOT) as [->|N].
      + pose proof (sumH_once (fun _ _ => 0) (ent counts0 s) ROOT 1) as O.
        change (tot counts0 ROOT) with 1. eapply Nat.le_trans; [apply O|rewrite Z; auto].
        * intros i Hi. cbn. destruct (Nat.eqb_spec i 1); [congruence|]. now rewrite andb_false_r.
        * cbn. destruct (s =? ROOT); cbn; lia.
      + rewrite (sumH_ext _ (fun _ _ => 0)); [rewrite Z; lia|]. intros i _. cbn.
        destruct (Nat.eqb_spec q ROOT); [congruence|]. now rewrite andb_false_r.
    - pose proof (walk_keeps T C guard ctl Ps c0 HWF _ _ _ _ _ W) as [IW _ _].
      destruct ev as [l|]; cbn [count_event].
      + split.
        * intros x. rewrite (trips_on_entry T C guard ctl _ _ _ _ _ _ St IW).
          cbn [tot enter_counts].
          unfold upd. destruct (Nat.eqb_spec x l) as [->|]; [specialize (I1 l); lia|auto].
        * intros s k q. destruct (Nat.eq_dec q l) as [->|N].
          -- rewrite tot_entered.
             eapply Nat.le_trans; [apply (sumH_once (ent m s) _ l
                (tot (enter_counts (kon p') l m) s))|specialize (I2 s k l); lia].
             ++ intros i Hi. apply ent_not_entered. auto.
             ++ cbn [ent enter_counts]. destruct (_ && _); lia.
          -- rewrite tot_not_entered by auto.
             rewrite (sumH_ext _ (ent m s)) by (intros; apply ent_not_entered; auto). auto.
      + split; auto. intros x. eapply Nat.le_trans; [|apply (I1 x)].
        unfold wfp in IW. inversion St; subst; cbn [kon trips wfk] in *; auto.
        * destruct (Nat.eqb_spec x l) as [->|]; auto.
          rewrite (trips_outside T e k l); [lia|apply IW|].
          destruct IW as ((((N & _) & _) & _) & _). exact N.
        * destruct (Nat.eqb_spec x l) as [->|]; auto.
          rewrite (trips_outside T e k l); [lia|apply IW|].
          destruct IW as ((N & _) & _). exact N.
  Qed.
End Counts.

(** * All engines *)

Section Engines.
  Variables (M : nat) (B : loopid -> nat).
  Variables D C : Type.
  Variable iop : instr -> D -> D.
  Variable guard : engine -> loopid -> C -> bool.
  Variable ctl : engine -> loopid -> C -> C.
  Variable T : tables.
  Variable signals : instr -> option sema.
  Variables (Ps : code instr) (Pi : code item).
  Variables (d0 : D) (c0 : engine -> C).
  Hypothesis HWF : well_formed T Ps.
  Hypothesis HP : ecode instr_of Pi = Ps.
  Notation walk := (walk C guard ctl Ps c0).
  Notation istep := (istep iop guard ctl T signals).
  Hypothesis HBd : forall e n p c m l, walk e n p c m -> tot m l <= B l.

  (* What is known of an engine. *)
  Definition engine_known (e : engine) (p : pos item) (c : C) (rf : reg -> nat) (loose : reg
      -> bool)
    : Prop := exists about inv finv A F n m,
      walk e n (epos instr_of p) c m /\ pos_fits M B T e about inv finv A F p /\
      valid A (genv_of m (trips (ekont instr_of (kon p)))) rf /\
      firms_valid F (genv_of m (trips (ekont instr_of (kon p)))) loose.

  Lemma walk_env e n p c m : walk e n (epos instr_of p) c m ->
    env_ok (active (kon p)) (genv_of m (trips (ekont instr_of (kon p)))) /\
    bounded B (genv_of m (trips (ekont instr_of (kon p)))).
  Proof.
    intros W. pose proof (walk_keeps T C guard ctl Ps c0 HWF _ _ _ _ _ W) as [(Wk & _) IH _].
    cbn [kon epos] in *. split.
    - rewrite <- (active_erased instr_of). eapply env_ok_of; eauto.
    - destruct (walk_counts T C guard ctl Ps c0 HWF _ _ _ _ _ W) as [K1 K2].
      constructor; cbn; auto. eauto.
  Qed.

  Lemma walk_counts_ok e n p c m : walk e n (epos instr_of p) c m ->
    counts_ok (genv_of m (trips (ekont instr_of (kon p)))).
  Proof.
    intros W. destruct (walk_env _ _ _ _ _ W) as [EO BD].
    split; [exact (env_ok_anywhere _ _ EO)|apply BD].
  Qed.

  Lemma known_regop e o cu co k c rf loose : engine_known e (mkpos (RegOp o :: cu) co k) c rf loose
      ->
    engine_known e (mkpos cu co k) c (exec o rf) (exec_loose M o rf loose).
  Proof.
    intros (about & inv & finv & A & F & n & m & W & (A1 & F1 & A2 & F2 & I1 & I2 & I3) & V & VF).
    destruct (walk_env _ _ _ _ _ W) as [EO BD]. cbn [kon cur cod Fits.fit_items] in *.
    exists about, inv, finv, (exec_facts (active k) o A), (exec_firms M B (active k) o A F), n, m.
    split; [exact W|]. split; [exists A1, F1, A2, F2; auto|]. split.
    - now apply exec_ok.
    - eapply exec_firms_ok; eauto.
  Qed.

  Lemma known_awaited e p c rf loose o : engine_known e p c rf loose ->
    awaited (cur p) = Some o -> firm M loose o = true.
  Proof.
    intros (about & inv & finv & A & F & n & m & W & (A1 & F1 & A2 & F2 & I1 & _) & _ & VF) Aw.
    destruct (walk_env _ _ _ _ _ W) as [EO BD].
    destruct (cur p) as [|x xs]; [discriminate|].
    destruct x as [j [w|]|y|w]; cbn [awaited Fits.fit_items wait_firm] in *; try discriminate;
      inversion Aw; subst o;
      (destruct (always_firm M (active (kon p)) F (snd w)) eqn:AF; [|discriminate]);
      exact (always_firm_ok M B _ F _ loose EO BD VF (snd w) AF).
  Qed.

  Lemma known_wait e x cu co k c rf loose : engine_known e (mkpos (Wait x :: cu) co k) c rf loose ->
    engine_known e (mkpos cu co k) c rf loose.
  Proof.
    intros (about & inv & finv & A & F & n & m & W & (A1 & F1 & A2 & F2 & I1 & I2 & I3) & V & VF).
    cbn [kon cur cod Fits.fit_items] in *. destruct (wait_firm M _ F _); [|discriminate].
    exists about, inv, finv, A, F, n, m. split; [exact W|].
    split; [exists A1, F1, A2, F2; auto|]. auto.
  Qed.

  Lemma known_issue e j x cu co k c rf loose :
    engine_known e (mkpos (Issue j x :: cu) co k) c rf loose ->
    engine_known e (mkpos cu co k) c rf loose.
  Proof.
    intros (about & inv & finv & A & F & n & m & W & (A1 & F1 & A2 & F2 & I1 & I2 & I3) & V & VF).
    cbn [kon cur cod Fits.fit_items] in *. destruct (wait_firm M _ F _); [|discriminate].
    exists about, inv, finv, A, F, n, m. split; [eapply walk_issue; exact W|].
    split; [exists A1, F1, A2, F2; auto|]. auto.
  Qed.

  Lemma known_ctl e p c p' c' ev rf loose : cstep guard ctl e p c p' c' ev ->
    engine_known e p c rf loose -> engine_known e p' c' rf loose.
  Proof.
    intros St (about & inv & finv & A & F & n & m & W & PF & V & VF).
    pose proof (walk_keeps T C guard ctl Ps c0 HWF _ _ _ _ _ W) as [IW IH _].
    cbn [kon epos] in IH. rewrite active_erased in IH.
    assert (W' : walk e (S n) (epos instr_of p') c' (count_event (kon (epos instr_of p')) ev m)).
    { eapply walk_ctl; [exact W|]. now apply cstep_erase. }
    destruct (fits_cstep M B T e about inv finv C guard ctl _ _ _ _ _ _ _ _ _ _ St PF IW IH V VF
                (walk_counts_ok _ _ _ _ _ W) (walk_counts_ok _ _ _ _ _ W'))
      as (A' & F' & PF' & VF' & V').
    exists about, inv, finv, A', F', (S n), (count_event (kon (epos instr_of p')) ev m). auto.
  Qed.

  Definition engines_known (i : istate D C) (loose : looseness) : Prop :=
    forall e, engine_known e (ipos i e) (ics i e) (iregs i e) (loose e).

  Lemma known_ext e p c rf loose loose' : (forall r, loose r = loose' r) ->
    engine_known e p c rf loose -> engine_known e p c rf loose'.
  Proof.
    intros X (about & inv & finv & A & F & n & m & W & PF & V & SF & VF).
    exists about, inv, finv, A, F, n, m. split; auto. split; auto. split; auto. split; auto.
    intros r K Hx Hc. rewrite <- X. eauto.
  Qed.

  Lemma engines_known_step i loose a i' : engines_known i loose -> istep i a i' ->
    engines_known i' (track M D C i i' loose).
  Proof.
    intros K St e'. pose proof (K e') as Ke.
    assert (QUIET : (forall e o t, cur (ipos i e) = RegOp o :: t -> ipos i' e = ipos i e) ->
      engine_known e' (ipos i' e') (ics i' e') (iregs i' e') (loose e') ->
      engine_known e' (ipos i' e') (ics i' e') (iregs i' e') (track M D C i i' loose e')).
    { intros H. apply known_ext. intros r. now rewrite track_same. }
    destruct St as [i e o cu c k Hp|i e x cu c k Hp P|i e j x cu c k Hp P|i q n j x Hm|i q j x Hq
                   |i e p c ev Hc].
    - clear QUIET. unfold track. cbn [ipos ics iregs].
      destruct (Nat.eq_dec e' e) as [->|N].
      + rewrite !upd_eq, Hp in *. cbn [cur]. rewrite Nat.eqb_refl. now apply known_regop.
      + rewrite !upd_ne by auto. destruct (cur (ipos i e')) as [|[|y|] t] eqn:Q; auto.
        cbn [length]. destruct (Nat.eqb_spec (S (length t)) (length t)); [lia|auto].
    - apply QUIET; cbn [ipos ics iregs].
      + intros e1 y t Q. destruct (Nat.eq_dec e1 e) as [->|N]; [|now rewrite upd_ne].
        rewrite Hp in Q. discriminate.
      + destruct (Nat.eq_dec e' e) as [->|N]; [|now rewrite upd_ne].
        rewrite upd_eq. rewrite Hp in Ke. eapply known_wait; eauto.
    - apply QUIET; cbn [ipos ics iregs].
      + intros e1 y t Q. destruct (Nat.eq_dec e1 e) as [->|N]; [|now rewrite upd_ne].
        rewrite Hp in Q. discriminate.
      + destruct (Nat.eq_dec e' e) as [->|N]; [|now rewrite upd_ne].
        rewrite upd_eq. rewrite Hp in Ke. eapply known_issue; eauto.
    - now apply QUIET.
    - now apply QUIET.
    - apply QUIET; cbn [ipos ics iregs].
      + intros e1 y t Q. destruct (Nat.eq_dec e1 e) as [->|N]; [|now rewrite upd_ne].
        apply cstep_needs_empty_block in Hc. rewrite Hc in Q. discriminate.
      + destruct (Nat.eq_dec e' e) as [->|N]; [|now rewrite !upd_ne].
        rewrite !upd_eq. eapply known_ctl; eauto.
  Qed.

  Lemma tracked_reached (i0 i : istate D C) loose :
    tracked M D C iop guard ctl T signals i0 i loose ->
    exists tr, run istep i0 tr i.
  Proof.
    induction 1 as [|i a i' loose TR [tr R] St]; [exists []; constructor|].
    exists (tr ++ a). eapply run_snoc; eauto.
  Qed.

  (* Every engine's code is followed to its end, from facts that hold at the start. *)
  Hypothesis HFit : forall e, exists about inv finv A F AF, true_at_start A = true /\ stamped F /\
    fit_code M B (path T) e about inv finv [ROOT] (at_start A) F Pi = Some AF.

  Lemma engines_known_start : engines_known (iinit Pi d0 c0) (fun _ _ => false).
  Proof.
    intros e. destruct (HFit e) as (about & inv & finv & A & F & [A2 F2] & HA & SF & HC).
    exists about, inv, finv, (at_start A), F, 0, counts0. cbn [ipos ics iregs iinit].
    split; [unfold epos; cbn; rewrite HP; constructor|].
    split; [exists (at_start A), F, A2, F2; cbn; auto|]. split; [now apply valid_at_start|].
    split; [exact SF|intros r c _ _; reflexivity].
  Qed.

  Theorem followed_code_fits :
    (forall tr i w, run istep (iinit Pi d0 c0) tr i -> isem i w < M) ->
    numbers_fit M iop guard ctl T signals (iinit Pi d0 c0).
  Proof.
    intros HS i loose TR. split.
    - intros w. destruct (tracked_reached _ _ _ TR) as [tr R]. eauto.
    - assert (K : engines_known i loose).
      { induction TR as [|i a i' loose TR IH St]; [apply engines_known_start|].
        eapply engines_known_step; eauto. }
      intros e o Aw. eapply known_awaited; eauto.
  Qed.
End Engines.
