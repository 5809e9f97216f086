(* FactsSound.v -- facts stay true

   Purpose   What Checker.v says of registers stays true over each operation, over the entry and the
             exit of a body, over a whole loop and a conditional; and what is read off it is right.
   Paper     ImplInv, section 6.4
   C++       -
   Trusted   nothing *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics Maps Expr Known Checker Invariant.

(** * Facts under register operations *)

Lemma has_In xs x : has xs x = true <-> In x xs.
Proof.
  unfold has. rewrite existsb_exists. split.
  - intros (y & H & E). apply expr_eqb_eq in E. now subst.
  - intros H. exists x. split; auto. now apply expr_eqb_eq.
Qed.

Lemma value_ok A g rf r x : valid A g rf -> In x (values A r) -> rf r = den x g.
Proof. intros [_ V]. apply V. Qed.

(* Facts that are among others. *)
Definition within (J A : facts) : Prop := forall r x, In x (values J r) -> In x (values A r).

Lemma within_valid J A g rf : stamped J -> within J A -> valid A g rf -> valid J g rf.
Proof. intros S W [_ V]. split; auto. Qed.

Lemma ovals_ok A o g rf x : valid A g rf -> In x (ovals A o) -> den x g = value o rf.
Proof.
  intros V. destruct o; simpl.
  - intros H. symmetry. eapply value_ok; eauto.
  - intros [<-|[]]; auto.
Qed.

Lemma known_zero_ok A x p g rf : valid A g rf -> known_zero A x p = true -> den x g = 0.
Proof.
  intros V H. apply existsb_exists in H as (r & _ & H). apply andb_true_iff in H as [H1 H2].
  apply has_In in H1, H2. apply (value_ok _ _ _ _ _ V) in H1, H2. rewrite <- H1. exact H2.
Qed.

Lemma one_trip_ok A l g rf : valid A g rf -> one_trip A l = true -> ghat g l = gtot g l.
Proof.
  intros V H. apply existsb_exists in H as (r & _ & H). apply andb_true_iff in H as [H1 H2].
  apply has_In in H1, H2. apply (value_ok _ _ _ _ _ V) in H1, H2. cbn [den] in *. congruence.
Qed.

Lemma informed_ok act totals A g rf x : env_ok act g -> valid A g rf ->
  den (informed act totals A x) g = den x g.
Proof.
  intros E V. induction x as [| | |l|l|s m p|o a IHa b IHb]; cbn [informed]; auto.
  - destruct totals, (one_trip A l) eqn:O; auto. apply (one_trip_ok _ _ _ _ V) in O. now cbn [den].
  - destruct totals, (one_trip A l) eqn:O; auto. apply (one_trip_ok _ _ _ _ V) in O. cbn [den andb].
    now rewrite O.
  - destruct (known_zero A (EHist s m p) p) eqn:Z; auto.
    now rewrite (known_zero_ok _ _ _ _ _ V Z).
  - rewrite mk_ok by auto. cbn [den]. now rewrite IHa, IHb.
Qed.

Lemma some_version_ok act A g rf x judge : env_ok act g -> valid A g rf ->
  some_version act A x judge = true -> exists y, judge y = true /\ den y g = den x g.
Proof.
  intros E V. unfold some_version. rewrite !orb_true_iff.
  intros [[H|H]|H]; eexists; (split; [exact H|]); auto; eapply informed_ok; eauto.
Qed.

Lemma has_ok A o g rf x : valid A g rf -> has (ovals A o) x = true -> den x g = value o rf.
Proof.
  intros V H. apply existsb_exists in H as (y & Hy & E). apply expr_eqb_eq in E. subst.
  exact (ovals_ok _ _ _ _ _ V Hy).
Qed.

Lemma holds_ok act A o g rf x : env_ok act g -> valid A g rf -> holds act A o x = true ->
  den x g = value o rf.
Proof.
  intros E V H. destruct (some_version_ok _ _ _ _ _ _ E V H) as (y & Hy & <-).
  exact (has_ok _ _ _ _ _ V Hy).
Qed.

Lemma insert_In x y xs : In x (insert y xs) -> x = y \/ In x xs.
Proof.
  induction xs as [|z xs IH]; simpl; [intuition|]. destruct (_ <=? _); simpl; intuition.
Qed.

Lemma by_size_In x xs : In x (by_size xs) -> In x xs.
Proof.
  induction xs as [|y xs IH]; simpl; auto. intros H. apply insert_In in H as [->|H]; auto.
Qed.

Lemma distinct_In x xs : In x (distinct xs) -> In x xs.
Proof.
  induction xs; simpl; auto. destruct (existsb _ _); simpl; intuition auto.
Qed.

Lemma firstn_In {A} n (xs : list A) x : In x (firstn n xs) -> In x xs.
Proof. intros H. rewrite <- (firstn_skipn n xs). apply in_or_app. auto. Qed.

Lemma also_ok act A n o g rf x : env_ok act g -> valid A g rf -> In x (also act A n o) ->
  den x g = n.
Proof.
  intros E V H. destruct o as [z|m]; cbn [also] in H; [|destruct H as [<-|[]]; reflexivity].
  destruct (has (values A z) (EC 0)) eqn:M; [|destruct H as [<-|[]]; reflexivity].
  apply has_In in M. apply (value_ok _ _ _ _ _ V) in M. cbn [den] in M.
  apply in_map_iff in H as (y & <- & H). rewrite mk_ok by auto. cbn [den alu_nat].
  rewrite <- (value_ok _ _ _ _ _ V H). lia.
Qed.

Lemma results_ok act o A g rf x : env_ok act g -> valid A g rf -> In x (results act o A) ->
  den x g = alu_nat (aop o) (value (opa o) rf) (value (opb o) rf).
Proof.
  intros E V H.
  assert (G : In x (flat_map (fun a => map (mk act (aop o) a) (ovals A (opb o))) (ovals A (opa o)))
    -> den x g = alu_nat (aop o) (value (opa o) rf) (value (opb o) rf)).
  { intros I. apply in_flat_map in I as (a & Ha & I). apply in_map_iff in I as (b & <- & Hb).
    rewrite mk_ok by auto. now rewrite (ovals_ok _ _ _ _ _ V Ha), (ovals_ok _ _ _ _ _ V Hb). }
  unfold results in H. destruct (aop o); auto. destruct (opa o) as [r|n]; auto.
  exact (also_ok _ _ _ _ _ _ _ E V H).
Qed.

Lemma exec_ok act o A g rf :
  env_ok act g -> valid A g rf -> valid (exec_facts act o A) g (exec o rf).
Proof.
  intros E V. split; [apply write_stamped, V|]. intros r x H.
  apply write_reads in H as [[-> H]|[N H]]; unfold exec.
  - rewrite upd_eq. apply firstn_In, by_size_In, distinct_In, filter_In in H as [H _].
    now rewrite (results_ok _ _ _ _ _ _ E V H).
  - rewrite upd_ne by auto. eapply value_ok; eauto.
Qed.

(** * Facts over the entry and exit of a body *)

Section Bodies.
  Variable path : loopid -> list loopid.

  (* What entering l does to the counters. *)
  Definition entered (l : loopid) (g g' : genv) :=
    (forall x, gtot g' x = if x =? l then gtot g l + 1 else gtot g x) /\
    (forall x, ghat g' x = if x =? l then ghat g l + 1 else ghat g x) /\
    (forall m p, ghist g' l (m + 1) p = ghist g l m p) /\
    (forall s m p, s <> l -> m <> 0 \/ p <> l -> ghist g' s m p = ghist g s m p) /\
    (forall p, under path l p = true -> ghist g l 0 p = gtot g p).

  (* What leaving it does. *)
  Definition left_body (l : loopid) (g g' : genv) :=
    (forall x, gtot g' x = gtot g x) /\
    (forall x, x <> l -> ghat g' x = ghat g x) /\
    (forall s m p, ghist g' s m p = ghist g s m p).

  Lemma after_entry_ok l g g' x y :
    entered l g g' -> after_entry l x = Some y -> den y g' = den x g.
  Proof.
    intros (Ht & Hh & Hs & Ho & _). revert y.
    assert (P : positive [l] g').
    { intros z [<-|[]]. rewrite Ht, Hh, Nat.eqb_refl. lia. }
    induction x; cbn [after_entry]; intros y E.
    - inversion E; auto.
    - inversion E; subst. destruct (Nat.eqb_spec l0 l); subst; simpl; rewrite Ht.
      + rewrite Nat.eqb_refl. lia.
      + destruct (Nat.eqb_spec l0 l); congruence.
    - inversion E; subst. destruct (Nat.eqb_spec l0 l); subst; simpl; rewrite Ht.
      + rewrite Nat.eqb_refl. lia.
      + destruct (Nat.eqb_spec l0 l); congruence.
    - inversion E; subst. destruct (Nat.eqb_spec l0 l); subst; simpl; rewrite Hh.
      + rewrite Nat.eqb_refl. lia.
      + destruct (Nat.eqb_spec l0 l); congruence.
    - inversion E; subst. destruct (Nat.eqb_spec l0 l); subst; simpl; rewrite Hh.
      + rewrite Nat.eqb_refl. lia.
      + destruct (Nat.eqb_spec l0 l); congruence.
    - destruct (Nat.eqb_spec m 0); [discriminate|]. inversion E; subst.
      destruct (Nat.eqb_spec s l); subst; simpl; auto.
    - destruct (after_entry l x1), (after_entry l x2); inversion E; subst.
      rewrite mk_value by exact P. cbn [den]. now rewrite IHx1, IHx2.
  Qed.

  Lemma as_past_ok l g g' x : entered l g g' -> forall y, as_past path l x = Some y ->
    den y g' = den x g.
  Proof.
    intros (_ & _ & Hs & _ & Hz).
    assert (P : forall p, under path l p = true -> ghist g' l 1 p = gtot g p).
    { intros p U. rewrite <- (Hz p U). exact (Hs 0 p). }
    induction x as [| | | | | |o a IHa b IHb]; cbn [as_past]; try discriminate; intros y H.
    - destruct (under path l l0) eqn:U; [|discriminate]. injection H as <-. cbn [den]. now apply P.
    - destruct (under path l l0) eqn:U; [|discriminate]. injection H as <-.
      cbn [less den alu_nat]. now rewrite P.
    - destruct o; try discriminate.
      + destruct b; try discriminate. destruct (as_past path l a) as [z|]; [|discriminate].
        injection H as <-. cbn [den]. now rewrite (IHa z).
      + destruct b; try discriminate. destruct (as_past path l a) as [z|]; [|discriminate].
        injection H as <-. cbn [den]. now rewrite (IHa z).
      + destruct a; try discriminate. destruct (as_past path l b) as [z|]; [|discriminate].
        injection H as <-. cbn [den]. now rewrite (IHb z).
  Qed.

  Lemma entered1_ok l g g' x y : entered l g g' -> In y (entered1 path l x) -> den y g' = den x g.
  Proof.
    intros R H. unfold entered1 in H. apply in_app_or in H as [H|H].
    - destruct (after_entry l x) eqn:E; [|contradiction]. destruct H as [<-|[]].
      eapply after_entry_ok; eauto.
    - destruct (as_past path l x) eqn:E; [|contradiction]. destruct H as [<-|[]].
      eapply as_past_ok; eauto.
  Qed.

  (* What does not speak of l. *)
  Lemma apart_entered l g g' x : entered l g g' -> ~ In l (parts x) -> den x g' = den x g.
  Proof.
    intros (Ht & Hh & _ & Ho & _).
    induction x as [| | | | |s m p|o a IHa b IHb]; cbn [parts den]; intros N; auto;
      try (rewrite ?Ht, ?Hh; destruct (Nat.eqb_spec l0 l); [exfalso; apply N; simpl; auto|auto]).
    - destruct (Nat.eqb_spec m 0); simpl in N; apply Ho; auto; right; intros ->; tauto.
    - rewrite IHa, IHb; auto; intros H; apply N, in_or_app; auto.
  Qed.

  Lemma apart_one x l : apart parts x [l] <-> ~ In l (parts x).
  Proof.
    unfold apart. split; [intros H I; apply (H l I); simpl; auto|].
    intros N m Hm [<-|[]]. auto.
  Qed.

  Lemma enter_ok rs l A g g' rf : entered l g g' -> valid A g rf ->
    valid (enter path rs l A) g' rf.
  Proof.
    intros R V. split; [apply renew_stamped, V|]. intros r y H.
    apply renew_reads in H as [[_ H]|(_ & H & P)]; [| |apply V].
    - apply in_flat_map in H as (x & Hx & H). rewrite (entered1_ok _ _ _ _ _ R H).
      eapply value_ok; eauto.
    - apply apart_one in P. rewrite (apart_entered _ _ _ _ R P). eapply value_ok; eauto.
  Qed.

  Lemma survives_exit_ok l g g' x :
    left_body l g g' -> survives_exit l x = true -> den x g' = den x g.
  Proof.
    intros (Ht & Hh & Hs). induction x; simpl; intros E; auto; try now rewrite ?Ht.
    - apply Hh. destruct (Nat.eqb_spec l0 l); auto; discriminate.
    - rewrite Hh; auto. destruct (Nat.eqb_spec l0 l); auto; discriminate.
    - apply andb_true_iff in E as [E1 E2]. now rewrite IHx1, IHx2.
  Qed.

  Lemma apart_survives x l : ~ In l (parts x) -> survives_exit l x = true.
  Proof.
    induction x as [| | | | | |o a IHa b IHb]; cbn [parts survives_exit]; intros N; auto;
      try (destruct (Nat.eqb_spec l0 l); [exfalso; apply N; simpl; auto|auto]).
    rewrite IHa, IHb; auto; intros H; apply N, in_or_app; auto.
  Qed.

  (* All that is still known when l was left was true before, and does not speak of its trip. *)
  Lemma leave_reads rs l A r x : stamped A -> In x (values (leave rs l A) r) ->
    In x (values A r) /\ survives_exit l x = true.
  Proof.
    intros S H. apply renew_reads in H as [[_ H]|(_ & H & P)]; auto.
    - now apply filter_In in H.
    - split; auto. apply apart_one in P. now apply apart_survives.
  Qed.

  Lemma leave_ok rs l A g g' rf : left_body l g g' -> valid A g rf -> valid (leave rs l A) g' rf.
  Proof.
    intros R V. split; [apply renew_stamped, V|]. intros r x H.
    apply leave_reads in H as [H E]; [|apply V]. rewrite (survives_exit_ok _ _ _ _ R E).
    eapply value_ok; eauto.
  Qed.
End Bodies.

(** ** Loops and conditionals *)

Lemma all_known_In rs want have r x : all_known rs want have = true -> In r rs ->
  In x (want r) -> In x (have r).
Proof.
  unfold all_known. intros K Hr Hx. rewrite forallb_forall in K. specialize (K r Hr).
  rewrite forallb_forall in K. apply has_In, K, Hx.
Qed.

Lemma head_reads rs l ls H A r x : stamped A -> In x (values (loop_head rs l ls H A) r) ->
  In r rs /\ In x (H r) \/ ~ In r rs /\ In x (values A r) /\ apart parts x (l :: ls).
Proof.
  intros S I. unfold loop_head, values in I. rewrite teller_reads in I. now apply renew_reads in I.
Qed.

Lemma head_stamped rs l ls H A : stamped A -> stamped (loop_head rs l ls H A).
Proof. intros S. now apply teller_stamped, renew_stamped. Qed.

Lemma head_ok rs l ls H A g rf : ghat g l = 0 -> all_known rs H (before_loop l A) = true ->
  valid A g rf -> valid (loop_head rs l ls H A) g rf.
Proof.
  intros Z K V. split; [apply head_stamped, V|]. intros r x I.
  apply head_reads in I as [[Hr I]|(_ & I & _)]; [|eapply value_ok; eauto|apply V].
  apply (all_known_In _ _ _ _ _ K Hr) in I. unfold before_loop in I.
  destruct (has (values A r) (EC 0)) eqn:E; [|eapply value_ok; eauto].
  apply in_app_or in I as [I|[<-|[]]]; [eapply value_ok; eauto|].
  apply has_In in E. apply (value_ok _ _ _ _ _ V) in E. cbn [den] in *. congruence.
Qed.

Lemma joined_stamped rs lt lf ls A At Af : stamped A -> stamped (joined rs lt lf ls A At Af).
Proof. apply renew_stamped. Qed.

Lemma joined_reads rs lt lf ls A At Af r x : stamped A ->
  In x (values (joined rs lt lf ls A At Af) r) ->
  (In x (values At r) /\ survives_exit lt x = true) /\
  (In x (values Af r) /\ survives_exit lf x = true) \/
  ~ In r rs /\ In x (values A r) /\ apart parts x (lt :: lf :: ls).
Proof.
  intros S H. apply renew_reads in H as [[_ H]|H]; auto.
  left. apply filter_In in H as [H1 H2]. apply filter_In in H1. apply has_In in H2.
  apply filter_In in H2. auto.
Qed.

Lemma entered_of T c act h h' {A} (k' : kont A) l : HI T c act ->
  (forall x, h' x = if x =? l then h l + 1 else h x) ->
  entered (path T) l (genv_of c h) (genv_of (enter_counts k' l c) h').
Proof.
  intros E Hh. unfold entered, genv_of; cbn [gtot ghat ghist]. repeat split; auto.
  - intros m p. apply past_shifts.
  - intros s m p N M. now apply past_keeps.
  - intros p U. unfold under in U. apply andb_true_iff in U as [U _]. apply inb_In in U.
    eapply past_0; eauto.
Qed.

Lemma left_body_of c h h' l : (forall x, x <> l -> h' x = h x) ->
  left_body l (genv_of c h) (genv_of c h').
Proof. intros Hh. unfold left_body, genv_of; simpl. auto. Qed.
