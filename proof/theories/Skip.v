(* Skip.v -- leaving out loops in which an engine has nothing to do

   Purpose   A certificate gives every engine all loops and branches of the kernel, some with
             nothing inside. The code leaves those out. Here is a machine that does: where an engine
             comes to such a loop, it goes on behind it in one step. All that it does is done by the
             machine that walks through, and it gets stuck only where that one does.
   Paper     does not say; all engines have all loops there
   C++       lib/Code/Lower.cpp emits for each engine the loops that it needs
   Trusted   [skip_step], [walks_through] and [blind]: what is left out ends when it is walked
             through, and changes nothing that the engine's other decisions depend on *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics Words.

(* Nothing in c is for engine e. *)
Fixpoint silent (e : engine) (c : code item) : bool :=
  match c with
  | CNil => true
  | CBlock f r => match nth e f [] with [] => silent e r | _ => false end
  | CLoop _ b r => silent e b && silent e r
  | CCond _ _ bt bf r => silent e bt && silent e bf && silent e r
  end.

(* A control step goes somewhere. *)
Fixpoint code_size (c : code item) : nat :=
  match c with
  | CNil => 1
  | CBlock _ r => S (code_size r)
  | CLoop _ b r => S (code_size b + code_size r)
  | CCond _ _ bt bf r => S (code_size bt + code_size bf + code_size r)
  end.

Section Skip.
  Variable M : nat. (* as in Words.v; 0: numbers have no bound *)
  Variables D C : Type.
  Variable iop : instr -> D -> D.
  Variable guard : engine -> loopid -> C -> bool.
  Variable ctl : engine -> loopid -> C -> C.
  Variable T : tables.
  Variable signals : instr -> option sema.
  Variable skips : engine -> loopid -> bool. (* loops, and conditionals by their first branch *)
  Notation wstep := (wstep M iop guard ctl T signals).
  Notation istate := (istate D C).

  (* Where the engine goes on, if it skips what is next. *)
  Definition behind (e : engine) (p : pos item) : option (pos item) :=
    match p with
    | mkpos [] (CLoop l b r) k => if skips e l && silent e b then Some (mkpos [] r k) else None
    | mkpos [] (CCond t _ bt bf r) k =>
        if skips e t && silent e bt && silent e bf then Some (mkpos [] r k) else None
    | _ => None
    end.

  Inductive skip_step : istate -> list event -> istate -> Prop :=
  | k_step s a s' : wstep s a s' ->
      (forall e p, behind e (ipos s e) = Some p -> ipos s' e = ipos s e) -> skip_step s a s'
  | k_skip s e p : behind e (ipos s e) = Some p ->
      skip_step s []
        (mki (ids s) (ics s) (upd (ipos s) e p) (iifl s) (isem s) (iregs s)).

  (* Where a loop or branch may be skipped, nothing is inside. *)
  Fixpoint only_silent (e : engine) (c : code item) : bool :=
    match c with
    | CNil => true
    | CBlock _ r => only_silent e r
    | CLoop l b r => (negb (skips e l) || silent e b) && only_silent e b && only_silent e r
    | CCond t f bt bf r =>
        (negb (skips e t) || silent e bt && silent e bf) && (negb (skips e f) || skips e t) &&
        only_silent e bt && only_silent e bf && only_silent e r
    end.

  (* Any number of control steps. *)
  Inductive passed (e : engine) : pos item -> C -> pos item -> C -> Prop :=
  | passed_none p c : passed e p c p c
  | passed_step p c p1 c1 ev p2 c2 : cstep guard ctl e p c p1 c1 ev -> passed e p1 c1 p2 c2 ->
      passed e p c p2 c2.

  (* Control states that differ at most in what only skipped loops look at. *)
  Variable alike : engine -> C -> C -> Prop.

  Definition walks_through : Prop := forall e p q c, behind e p = Some q ->
    exists d, passed e p c q d /\ alike e c d.

  Definition blind : Prop :=
    (forall e c, alike e c c) /\
    (forall e c d, alike e c d -> alike e d c) /\
    (forall e a b c, alike e a b -> alike e b c -> alike e a c) /\
    (forall e l c d, skips e l = false -> alike e c d ->
       guard e l c = guard e l d /\ alike e (ctl e l c) (ctl e l d)).

  (** * States that differ in nothing that matters *)

  Record same (s w : istate) : Prop := {
    sm_data : ids w = ids s;
    sm_control : forall e, alike e (ics s e) (ics w e);
    sm_pos : forall e, ipos w e = ipos s e;
    sm_flight : forall q, iifl w q = iifl s q;
    sm_sema : forall v, isem w v = isem s v;
    sm_regs : forall e r, iregs w e r = iregs s e r }.

  (* What encloses an engine is not skipped. *)
  Fixpoint kont_kept (e : engine) (k : kont item) : Prop :=
    match k with
    | KStop => True
    | KLoop l _ b r k =>
        skips e l = false /\ only_silent e b = true /\ only_silent e r = true /\ kont_kept e k
    | KCond l r k => skips e l = false /\ only_silent e r = true /\ kont_kept e k
    end.

  Definition kept (e : engine) (p : pos item) : Prop :=
    only_silent e (cod p) = true /\ kont_kept e (kon p).

  Ltac at_index x y :=
    destruct (Nat.eq_dec x y) as [->|?]; [repeat rewrite upd_eq|repeat rewrite upd_ne by auto].

  Ltac booleans := repeat first
    [ rewrite andb_true_iff in * | rewrite orb_true_iff in * | rewrite negb_true_iff in * ].

  (* Control that is not skipped goes alike from control states that are. *)
  Lemma control_alike e p c p' c' ev d : blind -> kept e p -> behind e p = None ->
    cstep guard ctl e p c p' c' ev -> alike e c d ->
    kept e p' /\ exists d', cstep guard ctl e p d p' d' ev /\ alike e c' d'.
  Proof.
    intros (_ & _ & _ & BL) [KC KK] BH St AL.
    destruct St; cbn [cod kon only_silent kont_kept behind] in *; unfold kept;
      cbn [cod kon only_silent kont_kept]; booleans.
    - split; auto. exists d. split; auto. constructor.
    - assert (S : skips e l = false).
      { destruct (skips e l), (silent e b); cbn in BH; try discriminate; auto.
        destruct KC as ((X & _) & _). destruct X; discriminate. }
      destruct (BL e l c d S AL) as [G _]. split; [tauto|]. exists d. split; auto.
      constructor. congruence.
    - assert (S : skips e l = false).
      { destruct (skips e l), (silent e b); cbn in BH; try discriminate; auto.
        destruct KC as ((X & _) & _). destruct X; discriminate. }
      destruct (BL e l c d S AL) as [G _]. split; [tauto|]. exists d. split; auto.
      constructor. congruence.
    - destruct KK as (S & K1 & K2 & K3). destruct (BL e l c d S AL) as [_ A'].
      destruct (BL e l _ _ S A') as [G _]. split; [auto 10|]. eexists. split; [|exact A'].
      constructor. congruence.
    - destruct KK as (S & K1 & K2 & K3). destruct (BL e l c d S AL) as [_ A'].
      destruct (BL e l _ _ S A') as [G _]. split; [auto|]. eexists. split; [|exact A'].
      constructor. congruence.
    - assert (S : skips e lt = false /\ skips e lf = false).
      { destruct KC as ((((X & Y) & _) & _) & _).
        destruct (skips e lt), (skips e lf), (silent e bt), (silent e bf); cbn in *;
          try discriminate; auto; destruct X; destruct Y; try discriminate; intuition discriminate.
              }
      destruct S as [S S']. destruct (BL e lt c d S AL) as [G _]. split; [tauto|].
      exists d. split; auto. constructor. congruence.
    - assert (S : skips e lt = false /\ skips e lf = false).
      { destruct KC as ((((X & Y) & _) & _) & _).
        destruct (skips e lt), (skips e lf), (silent e bt), (silent e bf); cbn in *;
          try discriminate; auto; destruct X; destruct Y; try discriminate; intuition discriminate.
              }
      destruct S as [S S']. destruct (BL e lt c d S AL) as [G _]. split; [tauto|].
      exists d. split; auto. constructor. congruence.
    - destruct KK as (S & K1 & K2). destruct (BL e l c d S AL) as [_ A']. split; [auto|].
      eexists. split; [constructor|exact A'].
  Qed.

  (* An engine before something to skip does not stay there by a control step. *)
  Lemma cstep_moves e p c p' c' ev q : behind e p = Some q ->
    cstep guard ctl e p c p' c' ev -> p' <> p.
  Proof.
    intros B St E. apply (f_equal (fun x => code_size (cod x))) in E.
    destruct St; cbn [behind cod code_size] in *; try discriminate; lia.
  Qed.

  Lemma value_same rf wf o : (forall r, wf r = rf r) ->
    word_value M o wf = word_value M o rf.
  Proof. intros H. destruct o; simpl; auto. Qed.

  Hypothesis HB : blind.

  Definition all_kept (s : istate) : Prop := forall e, kept e (ipos s e).

  Lemma kept_next e x cu c k (s : istate) e0 : all_kept s -> ipos s e = mkpos (x :: cu) c k ->
    kept e0 (upd (ipos s) e (mkpos cu c k) e0).
  Proof.
    intros K Hp. at_index e0 e; [|apply K]. specialize (K e). rewrite Hp in K. exact K.
  Qed.

  Lemma same_step s w a s' : same s w -> all_kept s -> wstep s a s' ->
    (forall e p, behind e (ipos s e) = Some p -> ipos s' e = ipos s e) ->
    all_kept s' /\ exists w', wstep w a w' /\ same s' w'.
  Proof.
    intros R K St NB.
    destruct St as [s e o cu c k Hp|s e x cu c k Hp P|s e j x cu c k Hp P|s q n j x Hm|s q j x Hq
                   |s e p c ev Hc].
    - split; [intros e0; eapply kept_next; eauto|]. eexists. split.
      + eapply w_regop. rewrite (sm_pos _ _ R); eauto.
      + constructor; cbn; try apply R; intros e0; at_index e0 e; auto; try apply R.
        intros r. unfold word_exec, upd. destruct (r =? dst o); [|apply R].
        now rewrite !(value_same _ _ _ (sm_regs _ _ R e)).
    - split; [intros e0; eapply kept_next; eauto|]. eexists. split.
      + eapply w_wait; [rewrite (sm_pos _ _ R); eauto|]. unfold word_passes.
        rewrite (value_same _ _ _ (sm_regs _ _ R e)), (sm_sema _ _ R). exact P.
      + constructor; cbn; try apply R; intros e0; at_index e0 e; auto; apply R.
    - split; [intros e0; eapply kept_next; eauto|]. eexists. split.
      + eapply w_issue; [rewrite (sm_pos _ _ R); eauto|]. intros y Hy. unfold word_passes.
        rewrite (value_same _ _ _ (sm_regs _ _ R e)), (sm_sema _ _ R). exact (P y Hy).
      + constructor; cbn; try apply R; intros e0;
          [at_index e0 e; auto; apply R|at_index e0 (que T j); rewrite ?(sm_flight _ _ R); auto].
    - split; [exact K|]. eexists. split; [eapply w_commit; rewrite (sm_flight _ _ R); eauto|].
      constructor; cbn; try apply R; [now rewrite (sm_data _ _ R)|].
      intros q0. at_index q0 q; auto. apply R.
    - split; [exact K|]. eexists. split; [eapply w_retire; rewrite (sm_flight _ _ R); eauto|].
      constructor; cbn; try apply R; [intros q0; at_index q0 q; auto; apply R|].
      intros v. unfold word_raise. destruct (signals j) as [y|]; [|apply R].
      unfold upd. destruct (v =? y); [|apply R]. now rewrite (sm_sema _ _ R).
    - assert (BN : behind e (ipos s e) = None).
      { destruct (behind e (ipos s e)) as [y|] eqn:E; auto. specialize (NB _ _ E). cbn in NB.
        rewrite upd_eq in NB. destruct (cstep_moves _ _ _ _ _ _ _ E Hc NB). }
      destruct (control_alike _ _ _ _ _ _ (ics w e) HB (K e) BN Hc (sm_control _ _ R e))
        as (Kp & d' & Hc' & A').
      split; [intros e0; cbn; at_index e0 e; auto|]. eexists. split.
      + eapply w_ctl. rewrite (sm_pos _ _ R). exact Hc'.
      + constructor; cbn; try apply R; intros e0; at_index e0 e; auto; apply R.
  Qed.

  (* Control steps of one engine, as steps of the machine. *)
  Lemma passed_run e p c q d : passed e p c q d -> forall s, ipos s e = p -> ics s e = c ->
    exists s', run wstep s [] s' /\ ids s' = ids s /\
      (forall e0, ics s' e0 = upd (ics s) e d e0) /\
      (forall e0, ipos s' e0 = upd (ipos s) e q e0) /\
      iifl s' = iifl s /\ isem s' = isem s /\ iregs s' = iregs s.
  Proof.
    induction 1 as [p c|p c p1 c1 ev p2 c2 St P IH]; intros s Hp Hc.
    - exists s. split; [constructor|]. repeat split; auto; intros e0; at_index e0 e; auto.
    - subst p c.
      destruct (IH (mki (ids s) (upd (ics s) e c1) (upd (ipos s) e p1) (iifl s) (isem s) (iregs s)))
        as (s' & Rn & S1 & S2 & S3 & S4); cbn; [now rewrite upd_eq|now rewrite upd_eq|].
      exists s'. split.
      + change (@nil event) with (@nil event ++ []). eapply run_cons; [|exact Rn].
        eapply w_ctl. exact St.
      + cbn in *. split; auto. split; [|split; auto]; intros e0; [rewrite S2|rewrite S3];
          at_index e0 e; auto.
  Qed.

  Hypothesis HW : walks_through.

  (* What the skipping machine does, the walking one can do. *)
  Lemma skip_matched s w a s' : same s w -> all_kept s -> skip_step s a s' ->
    all_kept s' /\ exists w', run wstep w a w' /\ same s' w'.
  Proof.
    intros R K St. destruct St as [s a s' St NB|s e p B].
    - destruct (same_step _ _ _ _ R K St NB) as (K' & w' & Sw & R'). split; auto.
      exists w'. split; auto. now apply run_step.
    - split.
      + intros e0. cbn. at_index e0 e; [|apply K]. specialize (K e). unfold kept in *.
        destruct (ipos s e) as [[|y cu] co k]; cbn [behind cod kon] in *; [|discriminate].
        destruct co as [|f r|l b r|t f bt bf r]; try discriminate; cbn [only_silent] in K.
        * destruct (skips e l && silent e b); [|discriminate]. inversion B; subst. cbn. booleans.
          tauto.
        * destruct (skips e t && silent e bt && silent e bf); [|discriminate]. inversion B; subst.
          cbn. booleans. tauto.
      + rewrite <- (sm_pos _ _ R) in B. destruct (HW e _ _ (ics w e) B) as (d & P & A).
        destruct (passed_run _ _ _ _ _ P w eq_refl eq_refl)
          as (w' & Rn & S1 & S2 & S3 & S4 & S5 & S6). exists w'. split; auto.
        destruct HB as (_ & _ & TR & _).
        constructor; cbn; intros; rewrite ?S1, ?S2, ?S3, ?S4, ?S5, ?S6; try apply R.
        * at_index e0 e; [|apply R]. eapply TR; [apply R|exact A].
        * at_index e0 e; auto. apply R.
  Qed.

  Theorem skip_run_matched s tr s' : run skip_step s tr s' -> forall w, same s w -> all_kept s ->
    exists w', run wstep w tr w' /\ same s' w' /\ all_kept s'.
  Proof.
    induction 1 as [s|s a s1 tr s2 St Rn IH]; intros w R K.
    - exists w. split; [constructor|auto].
    - destruct (skip_matched _ _ _ _ R K St) as (K1 & w1 & R1 & S1).
      destruct (IH _ S1 K1) as (w2 & R2 & S2). exists w2. split; auto. eapply run_app; eauto.
  Qed.

  Lemma same_sym s w : same s w -> same w s.
  Proof.
    destruct HB as (_ & SY & _). intros [S1 S2 S3 S4 S5 S6].
    constructor; intros; auto using eq_sym.
  Qed.

  (* Where it is stuck, so is the other. *)
  Theorem skip_stuck s w : same s w -> all_kept s -> (forall a s', ~ skip_step s a s') ->
    forall a w', ~ wstep w a w'.
  Proof.
    intros R K N a w' St.
    assert (NB : forall e p, behind e (ipos s e) = Some p -> False).
    { intros e p B. eapply N. eapply k_skip. exact B. }
    assert (Kw : all_kept w) by (intros e; rewrite (sm_pos _ _ R); apply K).
    destruct (same_step _ _ _ _ (same_sym _ _ R) Kw St) as (_ & s' & Ss & _).
    { intros e p B. rewrite (sm_pos _ _ R) in B. destruct (NB _ _ B). }
    apply (N a s'). apply k_step; auto. intros e p B. destruct (NB _ _ B).
  Qed.
End Skip.

Arguments skip_step M {D C}.
Arguments walks_through {C}.
Arguments blind {C}.
