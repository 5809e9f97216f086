(* Words.v -- the same code on a machine whose numbers wrap around

   Purpose   Registers and semaphores of a machine have some number of bits, and a subtraction below
             zero wraps around. While numbers fit, such a machine runs code exactly as the
             unbounded one does, step by step.
   Paper     does not say; the compiled form N*x - (N-K) needs it
   C++       Sim's machine, Machine/Machine.h (Subtraction::Wraps, unsigned comparison);
             lib/Code/Overflow.cpp bounds the numbers, lib/Code/Legalize.cpp puts the guards
   Trusted   [word_alu], [word_step] and [numbers_fit]

   A difference below zero does no harm when it is multiplied by 0 before it is compared: code
   computes N*x - (N-K) under a mask, and does not care what comes out while the mask is 0. So we
   follow which registers are [loose], that is, may differ between the two machines: results that
   do not fit or wrapped, and what was computed from those; a product with a 0 that is not loose is
   not. Numbers fit when no wait ever reads a loose register and no semaphore gets too large. *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics.

Section Words.
  Variable M : nat. (* one more than the largest number: 2^bits *)

  Definition word_alu (o : alu) (a b : nat) : nat :=
    match o with
    | AMove => a
    | AAdd => (a + b) mod M
    | ASub => (a + M - b) mod M
    | AMul => (a * b) mod M
    | AMin => Nat.min a b
    | AGt => if b <? a then 1 else 0
    end.

  Definition word_value (o : operand) (rf : reg -> nat) : nat :=
    match o with OReg r => rf r | OImm n => n mod M end.

  Definition word_exec (o : regop) (rf : reg -> nat) : reg -> nat :=
    upd rf (dst o) (word_alu (aop o) (word_value (opa o) rf) (word_value (opb o) rf)).

  (** * Loose registers *)

  Definition firm (loose : reg -> bool) (o : operand) : bool :=
    match o with OReg r => negb (loose r) | OImm n => n <? M end.

  (* The result is the same on both machines. *)
  Definition firm_result (o : regop) (rf : reg -> nat) (loose : reg -> bool) : bool :=
    let a := value (opa o) rf in
    let b := value (opb o) rf in
    let fa := firm loose (opa o) in
    let fb := firm loose (opb o) in
    match aop o with
    | AMove => fa
    | AAdd => fa && fb && (a + b <? M)
    | ASub => fa && fb && (b <=? a)
    | AMul => fa && fb && (a * b <? M) || fa && (a =? 0) || fb && (b =? 0)
    | AMin | AGt => fa && fb
    end.

  Definition exec_loose (o : regop) (rf : reg -> nat) (loose : reg -> bool) : reg -> bool :=
    upd loose (dst o) (negb (firm_result o rf loose)).

  (* Where the two register files agree. *)
  Definition agree (loose : reg -> bool) (rf wf : reg -> nat) : Prop :=
    forall r, loose r = false -> wf r = rf r /\ rf r < M.

  Lemma firm_value loose rf wf o : agree loose rf wf -> firm loose o = true ->
    word_value o wf = value o rf /\ value o rf < M.
  Proof.
    intros A F. destruct o as [r|n]; simpl in *.
    - apply A. now apply negb_true_iff.
    - apply Nat.ltb_lt in F. split; auto. now apply Nat.mod_small.
  Qed.

  Lemma firm_result_ok o rf wf loose : 2 <= M -> agree loose rf wf ->
    firm_result o rf loose = true ->
    let a := value (opa o) rf in
    let b := value (opb o) rf in
    word_alu (aop o) (word_value (opa o) wf) (word_value (opb o) wf) = alu_nat (aop o) a b /\
    alu_nat (aop o) a b < M.
  Proof.
    intros HM A F. unfold firm_result in F.
    pose proof (firm_value loose rf wf (opa o) A) as FA.
    pose proof (firm_value loose rf wf (opb o) A) as FB.
    destruct (aop o); cbn [word_alu alu_nat]; repeat rewrite orb_true_iff in F;
      repeat rewrite andb_true_iff in F; rewrite ?Nat.ltb_lt, ?Nat.leb_le, ?Nat.eqb_eq in F.
    - now apply FA.
    - destruct F as ((F1 & F2) & F3), (FA F1) as [-> _], (FB F2) as [-> _].
      split; auto. now apply Nat.mod_small.
    - destruct F as ((F1 & F2) & F3), (FA F1) as [-> HA], (FB F2) as [-> HB]. split; [|lia].
      replace (value (opa o) rf + M - value (opb o) rf)
        with (value (opa o) rf - value (opb o) rf + 1 * M) by lia.
      rewrite Nat.mod_add by lia. apply Nat.mod_small. lia.
    - destruct F as [[((F1 & F2) & F3)|(F1 & F3)]|(F2 & F3)].
      + destruct (FA F1) as [-> _], (FB F2) as [-> _]. split; auto. now apply Nat.mod_small.
      + destruct (FA F1) as [-> _]. rewrite F3. simpl. split; [|lia]. apply Nat.mod_0_l. lia.
      + destruct (FB F2) as [-> _]. rewrite F3, !Nat.mul_0_r. split; [|lia].
        apply Nat.mod_0_l. lia.
    - destruct F as (F1 & F2), (FA F1) as [-> HA], (FB F2) as [-> HB]. split; auto. lia.
    - destruct F as (F1 & F2), (FA F1) as [-> HA], (FB F2) as [-> HB]. split; auto.
      destruct (_ <? _); lia.
  Qed.

  Lemma exec_agrees o rf wf loose : 2 <= M -> agree loose rf wf ->
    agree (exec_loose o rf loose) (exec o rf) (word_exec o wf).
  Proof.
    intros HM A r. unfold exec_loose, exec, word_exec, upd.
    destruct (Nat.eqb_spec r (dst o)) as [->|]; [|apply A].
    intros F. apply negb_false_iff in F. now apply firm_result_ok with (loose := loose).
  Qed.

  (** ** How code keeps a difference from doing harm *)

  (* gt(a,b) * (a-b): firm whenever a and b are. *)
  Theorem guarded_difference_is_firm g x y a b rf loose :
    g <> x -> a <> OReg g -> b <> OReg g -> 2 <= M ->
    firm loose a = true -> firm loose b = true -> value a rf < M ->
    let o1 := mkop g AGt a b in
    let o2 := mkop x ASub a b in
    let o3 := mkop y AMul (OReg g) (OReg x) in
    let rf1 := exec o1 rf in
    let loose1 := exec_loose o1 rf loose in
    let rf2 := exec o2 rf1 in
    let loose2 := exec_loose o2 rf1 loose1 in
    exec_loose o3 rf2 loose2 y = false /\ exec o3 rf2 y = value a rf - value b rf.
  Proof.
    intros NE Na Nb HM Fa Fb Va o1 o2 o3 rf1 loose1 rf2 loose2.
    assert (Va1 : value a rf1 = value a rf).
    { destruct a as [r|]; auto. cbn. unfold rf1, exec. apply upd_ne. cbn. congruence. }
    assert (Vb1 : value b rf1 = value b rf).
    { destruct b as [r|]; auto. cbn. unfold rf1, exec. apply upd_ne. cbn. congruence. }
    assert (Fa1 : firm loose1 a = true).
    { destruct a as [r|]; auto. cbn in *. unfold loose1, exec_loose.
      rewrite upd_ne by (cbn; congruence). auto. }
    assert (Fb1 : firm loose1 b = true).
    { destruct b as [r|]; auto. cbn in *. unfold loose1, exec_loose.
      rewrite upd_ne by (cbn; congruence). auto. }
    assert (G : rf2 g = if value b rf <? value a rf then 1 else 0).
    { unfold rf2, exec. rewrite upd_ne by auto. unfold rf1, exec. now rewrite upd_eq. }
    assert (X : rf2 x = value a rf - value b rf).
    { unfold rf2, exec. rewrite upd_eq. cbn. now rewrite Va1, Vb1. }
    assert (LG : loose2 g = false).
    { unfold loose2, exec_loose. rewrite upd_ne by auto. unfold loose1, exec_loose.
      rewrite upd_eq. unfold firm_result. cbn. now rewrite Fa, Fb. }
    assert (LX : loose2 x = negb (value b rf <=? value a rf)).
    { unfold loose2, exec_loose. rewrite upd_eq. unfold firm_result. cbn.
      now rewrite Fa1, Fb1, Va1, Vb1. }
    unfold o3. split.
    - unfold exec_loose. rewrite upd_eq. unfold firm_result. cbn [aop opa opb firm value].
      rewrite LG, LX, G, X. apply negb_false_iff.
      destruct (Nat.ltb_spec (value b rf) (value a rf)) as [L|L].
      + apply Nat.lt_le_incl, Nat.leb_le in L. rewrite L. cbn [negb andb].
        apply orb_true_iff. left. apply orb_true_iff. left. apply Nat.ltb_lt. lia.
      + cbn [negb andb Nat.eqb]. rewrite orb_true_r. reflexivity.
    - unfold exec. rewrite upd_eq. cbn [aop opa opb value alu_nat]. rewrite G, X.
      destruct (Nat.ltb_spec (value b rf) (value a rf)); lia.
  Qed.

  (* m * (a-b): firm if m is 0 or the difference is not below zero. *)
  Theorem masked_difference_is_firm m x y a b rf loose :
    m <> x -> loose m = false -> firm loose a = true -> firm loose b = true ->
    rf m = 0 \/ value b rf <= value a rf /\ rf m * (value a rf - value b rf) < M ->
    let o1 := mkop x ASub a b in
    let o2 := mkop y AMul (OReg m) (OReg x) in
    exec_loose o2 (exec o1 rf) (exec_loose o1 rf loose) y = false.
  Proof.
    intros NE Lm Fa Fb H o1 o2. unfold o1, o2.
    unfold exec_loose at 1. rewrite upd_eq. unfold firm_result.
    cbn [aop opa opb firm value]. unfold exec_loose, exec. cbn [dst].
    rewrite !upd_ne by auto. rewrite !upd_eq. unfold firm_result.
    cbn [aop opa opb alu_nat]. rewrite Lm, Fa, Fb. cbn [negb andb]. apply negb_false_iff.
    rewrite negb_involutive, (upd_ne rf) by auto. destruct H as [->|[H1 H2]].
    - rewrite Nat.eqb_refl, orb_true_r. reflexivity.
    - apply Nat.leb_le in H1. apply Nat.ltb_lt in H2. now rewrite H1, H2.
  Qed.

  (** * The machine *)

  Variables D C : Type.
  Variable iop : instr -> D -> D.
  Variable guard : engine -> loopid -> C -> bool.
  Variable ctl : engine -> loopid -> C -> C.
  Variable T : tables.
  Variable signals : instr -> option sema.
  Notation istep := (istep iop guard ctl T signals).
  Notation istate := (istate D C).

  Definition word_passes (s : istate) (e : engine) (w : wait) : Prop :=
    word_value (snd w) (iregs s e) <= isem s (fst w).

  Definition word_raise (sem : sema -> nat) (i : instr) : sema -> nat :=
    match signals i with
    | None => sem
    | Some w => upd sem w ((sem w + weight T (que T i)) mod M)
    end.

  (* As [istep], with the arithmetic above. *)
  Inductive wstep : istate -> list event -> istate -> Prop :=
  | w_regop s e o cu c k : ipos s e = mkpos (RegOp o :: cu) c k ->
      wstep s []
        (mki (ids s) (ics s) (upd (ipos s) e (mkpos cu c k)) (iifl s) (isem s)
             (upd (iregs s) e (word_exec o (iregs s e))))
  | w_wait s e w cu c k : ipos s e = mkpos (Wait w :: cu) c k -> word_passes s e w ->
      wstep s []
        (mki (ids s) (ics s) (upd (ipos s) e (mkpos cu c k)) (iifl s) (isem s) (iregs s))
  | w_issue s e i w cu c k : ipos s e = mkpos (Issue i w :: cu) c k ->
      (forall x, w = Some x -> word_passes s e x) ->
      wstep s [Issued i]
        (mki (ids s) (ics s) (upd (ipos s) e (mkpos cu c k))
             (upd (iifl s) (que T i) (iifl s (que T i) ++ [(i, false)])) (isem s) (iregs s))
  | w_commit s q n i x : mark (iifl s q) n = Some (i, x) ->
      wstep s [Committed i]
        (mki (iop i (ids s)) (ics s) (ipos s) (upd (iifl s) q x) (isem s) (iregs s))
  | w_retire s q i x : iifl s q = (i, true) :: x ->
      wstep s [Retired i]
        (mki (ids s) (ics s) (ipos s) (upd (iifl s) q x) (word_raise (isem s) i) (iregs s))
  | w_ctl s e p c ev : cstep guard ctl e (ipos s e) (ics s e) p c ev ->
      wstep s []
        (mki (ids s) (upd (ics s) e c) (upd (ipos s) e p) (iifl s) (isem s) (iregs s)).

  (** * When numbers fit *)

  Definition looseness := engine -> reg -> bool.

  (* An engine whose head was a register operation and that has one item less has executed it. *)
  Definition track (i i' : istate) (loose : looseness) : looseness := fun e =>
    match cur (ipos i e) with
    | RegOp o :: t =>
        if length (cur (ipos i' e)) =? length t then exec_loose o (iregs i e) (loose e) else loose e
    | _ => loose e
    end.

  (* What the unbounded machine can reach, and which registers are loose there. *)
  Inductive tracked (i0 : istate) : istate -> looseness -> Prop :=
  | tracked_start : tracked i0 i0 (fun _ _ => false)
  | tracked_step i a i' loose : tracked i0 i loose -> istep i a i' ->
      tracked i0 i' (track i i' loose).

  (* The operand of the next wait. *)
  Definition awaited (xs : list item) : option operand :=
    match xs with
    | Wait w :: _ | Issue _ (Some w) :: _ => Some (snd w)
    | _ => None
    end.

  Definition numbers_fit (i0 : istate) : Prop := forall i loose, tracked i0 i loose ->
    (forall w, isem i w < M) /\
    (forall e o, awaited (cur (ipos i e)) = Some o -> firm (loose e) o = true).

  (** * In step *)

  Record in_step (i : istate) (loose : looseness) (w : istate) : Prop := {
    is_data : ids w = ids i;
    is_control : forall e, ics w e = ics i e;
    is_pos : forall e, ipos w e = ipos i e;
    is_flight : forall q, iifl w q = iifl i q;
    is_sema : forall v, isem w v = isem i v;
    is_regs : forall e, agree (loose e) (iregs i e) (iregs w e) }.

  Variable i0 : istate.
  Hypothesis HM : 2 <= M.
  Hypothesis H0 : forall e r, iregs i0 e r = 0.
  Hypothesis HF : numbers_fit i0.

  Lemma in_step_start : in_step i0 (fun _ _ => false) i0.
  Proof. constructor; auto. intros e r _. rewrite H0. lia. Qed.

  Ltac at_index x y :=
    destruct (Nat.eq_dec x y) as [->|?]; [repeat rewrite upd_eq|repeat rewrite upd_ne by auto].

  Lemma passes_alike (i : istate) loose (w : istate) e xs c k x : tracked i0 i loose
      -> in_step i loose w ->
    ipos i e = mkpos xs c k -> awaited xs = Some (snd x) ->
    (word_passes w e x <-> passes i e x).
  Proof.
    intros TR R Hp A. destruct (HF _ _ TR) as [_ F].
    assert (FX : firm (loose e) (snd x) = true) by (apply F; rewrite Hp; exact A).
    unfold word_passes, passes. rewrite (is_sema _ _ _ R).
    destruct (firm_value _ _ _ _ (is_regs _ _ _ R e) FX) as [-> _]. tauto.
  Qed.

  (* Nothing but a register operation changes what is loose. *)
  Lemma track_same (i i' : istate) loose : (forall e o t, cur (ipos i e) = RegOp o :: t ->
    ipos i' e = ipos i e) -> forall e, track i i' loose e = loose e.
  Proof.
    intros H e. unfold track. destruct (cur (ipos i e)) as [|[| o |] t] eqn:E; auto.
    rewrite (H _ _ _ E), E. cbn [length].
    destruct (Nat.eqb_spec (S (length t)) (length t)) as [X|]; auto.
    exfalso. exact (n_Sn _ (eq_sym X)).
  Qed.

  Lemma agree_ext loose loose' rf wf : (forall r, loose r = loose' r) -> agree loose rf wf ->
    agree loose' rf wf.
  Proof. intros E A r. rewrite <- E. apply A. Qed.

  Lemma raise_alike (i : istate) loose (w : istate) j : in_step i loose w ->
    (forall v, raise T signals (isem i) j v < M) ->
    forall v, word_raise (isem w) j v = raise T signals (isem i) j v.
  Proof.
    intros R F v. specialize (F v). unfold word_raise, raise in *.
    destruct (signals j) as [x|]; [|apply R]. unfold upd in *.
    destruct (v =? x); [|apply R]. rewrite (is_sema _ _ _ R). now apply Nat.mod_small.
  Qed.

  Lemma sema_fits i loose a i' : tracked i0 i loose -> istep i a i' -> forall v, isem i' v < M.
  Proof. intros TR St. eapply HF. eapply tracked_step; eauto. Qed.

  (* States that differ from two in step by the same, but not in registers. *)
  Lemma in_step_quiet i i' loose w w' : in_step i loose w ->
    iregs i' = iregs i -> iregs w' = iregs w ->
    (forall e o t, cur (ipos i e) = RegOp o :: t -> ipos i' e = ipos i e) ->
    ids w' = ids i' -> (forall e, ics w' e = ics i' e) -> (forall e, ipos w' e = ipos i' e) ->
    (forall q, iifl w' q = iifl i' q) -> (forall v, isem w' v = isem i' v) ->
    in_step i' (track i i' loose) w'.
  Proof.
    intros R Ri Rw H E1 E2 E3 E4 E5. constructor; auto. intros e r.
    rewrite track_same, Ri, Rw by auto. apply R.
  Qed.

  Lemma in_step_regop i loose w e o cu c k : in_step i loose w ->
    ipos i e = mkpos (RegOp o :: cu) c k ->
    let i' := mki (ids i) (ics i) (upd (ipos i) e (mkpos cu c k)) (iifl i) (isem i)
                  (upd (iregs i) e (exec o (iregs i e))) in
    in_step i' (track i i' loose)
      (mki (ids w) (ics w) (upd (ipos w) e (mkpos cu c k)) (iifl w) (isem w)
           (upd (iregs w) e (word_exec o (iregs w e)))).
  Proof.
    intros R Hp i'. constructor; cbn; try apply R; intros e0.
    - at_index e0 e; auto. apply R.
    - unfold track. cbn. at_index e0 e.
      + rewrite Hp. cbn [cur]. rewrite Nat.eqb_refl. apply exec_agrees; auto. apply R.
      + destruct (cur (ipos i e0)) as [|[| y |] t]; try apply R. cbn [length].
        destruct (Nat.eqb_spec (S (length t)) (length t)); [lia|apply R].
  Qed.

  Ltac quiet R Hp := eapply in_step_quiet; [exact R|reflexivity|reflexivity| | | | | | ];
    cbn; intros; try apply R;
    repeat match goal with
    | [ |- context [upd _ ?e _ ?x] ] => at_index x e
    end; auto; try apply R; try (rewrite Hp in *; discriminate).

  (* Each step of either machine is one of the other. *)
  Theorem word_follows i loose w a i' : tracked i0 i loose -> in_step i loose w -> istep i a i' ->
    exists w', wstep w a w' /\ in_step i' (track i i' loose) w'.
  Proof.
    intros TR R St. pose proof (sema_fits _ _ _ _ TR St) as FS.
    destruct St as [i e o cu c k Hp|i e x cu c k Hp P|i e j x cu c k Hp P|i q n j x Hm|i q j x Hq
                   |i e p c ev Hc]; eexists.
    - split; [eapply w_regop; rewrite (is_pos _ _ _ R); eauto|]. now apply in_step_regop.
    - split; [eapply w_wait; [rewrite (is_pos _ _ _ R); eauto|]|quiet R Hp].
      eapply passes_alike; eauto.
    - split; [eapply w_issue; [rewrite (is_pos _ _ _ R); eauto|]|quiet R Hp].
      + intros y ->. eapply passes_alike; eauto.
      + f_equal. apply R.
    - split; [eapply w_commit; rewrite (is_flight _ _ _ R); eauto|quiet R Hm].
      f_equal. apply R.
    - split; [eapply w_retire; rewrite (is_flight _ _ _ R); eauto|quiet R Hq].
      eapply raise_alike; eauto.
    - split; [eapply w_ctl; rewrite (is_pos _ _ _ R), (is_control _ _ _ R); eauto|].
      apply cstep_needs_empty_block in Hc. quiet R Hc.
  Qed.

  Theorem word_is_followed i loose w a w' : tracked i0 i loose -> in_step i loose w ->
    wstep w a w' -> exists i', istep i a i' /\ in_step i' (track i i' loose) w'.
  Proof.
    intros TR R St.
    destruct St as [w e o cu c k Hp|w e x cu c k Hp P|w e j x cu c k Hp P|w q n j x Hm|w q j x Hq
                   |w e p c ev Hc];
      try rewrite (is_pos _ _ _ R) in Hp; try rewrite (is_flight _ _ _ R) in Hm;
      try rewrite (is_flight _ _ _ R) in Hq; eexists.
    - split; [eapply i_regop; eauto|]. now apply in_step_regop.
    - split; [eapply i_wait; eauto|quiet R Hp].
      eapply passes_alike; eauto.
    - split; [eapply i_issue; eauto|quiet R Hp].
      + intros y ->. eapply passes_alike; eauto.
      + f_equal. apply R.
    - split; [eapply i_commit; eauto|quiet R Hm]. f_equal. apply R.
    - assert (S' : istep i [Retired j] (mki (ids i) (ics i) (ipos i) (upd (iifl i) q x)
                                            (raise T signals (isem i) j) (iregs i)))
        by now apply i_retire.
      split; [exact S'|]. pose proof (sema_fits _ _ _ _ TR S') as FS. quiet R Hq.
      eapply raise_alike; eauto.
    - rewrite (is_pos _ _ _ R), (is_control _ _ _ R) in Hc.
      split; [eapply i_ctl; eauto|]. apply cstep_needs_empty_block in Hc. quiet R Hc.
  Qed.

  (** ** Whole runs *)

  Lemma word_run_follows i loose w tr i' : run istep i tr i' -> tracked i0 i loose ->
    in_step i loose w ->
    exists w' loose', run wstep w tr w' /\ tracked i0 i' loose' /\ in_step i' loose' w'.
  Proof.
    intros Rn. revert loose w. induction Rn as [i|i a i1 tr i2 St Rn IH]; intros loose w TR R.
    - exists w, loose. split; [constructor|auto].
    - destruct (word_follows _ _ _ _ _ TR R St) as (w1 & S1 & R1).
      destruct (IH _ _ (tracked_step _ _ _ _ _ TR St) R1) as (w2 & l2 & Rw & T2 & R2).
      exists w2, l2. split; auto. eapply run_cons; eauto.
  Qed.

  Lemma word_run_followed w tr w' : run wstep w tr w' -> forall i loose, tracked i0 i loose ->
    in_step i loose w ->
    exists i' loose', run istep i tr i' /\ tracked i0 i' loose' /\ in_step i' loose' w'.
  Proof.
    induction 1 as [w|w a w1 tr w2 St Rn IH]; intros i loose TR R.
    - exists i, loose. split; [constructor|auto].
    - destruct (word_is_followed _ _ _ _ _ TR R St) as (i1 & S1 & R1).
      destruct (IH _ _ (tracked_step _ _ _ _ _ TR S1) R1) as (i2 & l2 & Ri & T2 & R2).
      exists i2, l2. split; auto. eapply run_cons; eauto.
  Qed.
End Words.

(* x mod 0 is x: with M = 0, this is the unbounded machine. *)
Lemma word_alu_0 o a b : word_alu 0 o a b = alu_nat o a b.
Proof. destruct o; simpl; auto; now rewrite ?Nat.add_0_r. Qed.

Lemma word_value_0 o rf : word_value 0 o rf = value o rf.
Proof. now destruct o. Qed.

Lemma unbounded_is_word_0 D C iop guard ctl T signals (s : istate D C) a s' :
  istep iop guard ctl T signals s a s' <-> wstep 0 D C iop guard ctl T signals s a s'.
Proof.
  assert (EX : forall o rf, word_exec 0 o rf = exec o rf).
  { intros. unfold word_exec, exec. now rewrite word_alu_0, !word_value_0. }
  assert (RA : forall sem i, word_raise 0 T signals sem i = raise T signals sem i).
  { intros. unfold word_raise, raise. destruct (signals i); auto. }
  assert (PA : forall (x : istate D C) e w, word_passes 0 D C x e w <-> passes x e w).
  { intros. unfold word_passes, passes. rewrite word_value_0. reflexivity. }
  split; intros St; destruct St.
  - rewrite <- EX. now apply w_regop.
  - apply w_wait with (w := w); auto; now apply PA.
  - apply w_issue with (w := w); auto; intros x Hx; now apply PA, H0.
  - eapply w_commit; eauto.
  - rewrite <- RA. now apply w_retire.
  - eapply w_ctl; eauto.
  - rewrite EX. now apply i_regop.
  - apply i_wait with (w := w); auto; now apply PA.
  - apply i_issue with (w := w); auto; intros x Hx; now apply PA, H0.
  - eapply i_commit; eauto.
  - rewrite RA. now apply i_retire.
  - eapply i_ctl; eauto.
Qed.

Arguments wstep M {D C}.
Arguments numbers_fit M {D C}.

(* Neither guarded nor masked: N = 3, K = 1 and no run yet, on 8 bits. No semaphore gets there. *)
Example wrapped_threshold : word_alu 256 ASub (3 * 0) (3 - 1) = 254.
Proof. reflexivity. Qed.
