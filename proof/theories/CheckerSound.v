(* CheckerSound.v -- facts stay true along code, and an accepted wait asks the right question

   Purpose   [chk_step]: what the checker knows at a position stays true over every control step.
             [wait_iff]: a wait with the threshold that the checker demands passes exactly when the
             dependence is satisfied.
   Paper     ImplInv and the decoding argument, section 6.4
   C++       -
   Trusted   nothing *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics Maps Decode Expr Checker Invariant.

(** * Facts under register operations *)

Lemma fact_eqb_eq f h : fact_eqb f h = true <-> f = h.
Proof.
  destruct f as [r x], h as [s y]. unfold fact_eqb. simpl.
  rewrite andb_true_iff, Nat.eqb_eq, expr_eqb_eq.
  split; [intros [-> ->]; auto|intros E; inversion E; auto].
Qed.

Lemma mem_In f A : mem f A = true <-> In f A.
Proof.
  unfold mem. rewrite existsb_exists. split.
  - intros (h & H & E). apply fact_eqb_eq in E. now subst.
  - intros H. exists f. split; auto. now apply fact_eqb_eq.
Qed.

Lemma known_In f A : known (index A) f = true <-> In f A.
Proof. unfold known. rewrite index_exists. apply mem_In. Qed.

Lemma sub_valid J A g rf : sub J A = true -> valid A g rf -> valid J g rf.
Proof.
  unfold sub. rewrite forallb_forall. intros H V r x HJ. apply V, known_In, H, HJ.
Qed.

Lemma sub_of_inclusion J A : (forall f, In f J -> In f A) -> sub J A = true.
Proof. intros H. apply forallb_forall. intros f Hf. now apply known_In, H. Qed.

Lemma sub_meet_left A B : sub (meet A B) A = true.
Proof. apply sub_of_inclusion. intros f H. now apply filter_In in H as [H _]. Qed.

Lemma sub_meet_right A B : sub (meet A B) B = true.
Proof. apply sub_of_inclusion. intros f H. apply filter_In in H as [_ H]. now apply known_In. Qed.

Lemma ovals_ok A o g rf x : valid A g rf -> In x (ovals A o) -> den x g = value o rf.
Proof.
  intros V. destruct o; simpl.
  - rewrite in_map_iff. intros ([r' y] & <- & H). apply filter_In in H as [H E].
    apply Nat.eqb_eq in E. simpl in *. subst. symmetry. now apply V.
  - intros [<-|[]]; auto.
Qed.

Lemma known_zero_ok A x g rf : valid A g rf -> known_zero A x = true -> den x g = 0.
Proof.
  intros V H. apply existsb_exists in H as ([r y] & Hy & H). simpl in H.
  apply andb_true_iff in H as [E M]. apply expr_eqb_eq in E. apply mem_In in M. subst.
  rewrite <- (V _ _ Hy). exact (V _ _ M).
Qed.

Lemma one_trip_ok A l g rf : valid A g rf -> one_trip A l = true -> ghat g l = gtot g l.
Proof.
  intros V H. apply existsb_exists in H as ([r y] & Hy & H). simpl in H.
  apply andb_true_iff in H as [E M]. apply expr_eqb_eq in E. apply mem_In in M. subst.
  change (den (EHat l) g = den (ETot l) g). now rewrite <- (V _ _ Hy), <- (V _ _ M).
Qed.

Lemma informed_ok act totals A g rf x : env_ok act g -> valid A g rf ->
  den (informed act totals A x) g = den x g.
Proof.
  intros E V. induction x as [| | |l|l|s m p|o a IHa b IHb]; cbn [informed]; auto.
  - destruct totals, (one_trip A l) eqn:O; auto. apply (one_trip_ok _ _ _ _ V) in O. now cbn [den].
  - destruct totals, (one_trip A l) eqn:O; auto. apply (one_trip_ok _ _ _ _ V) in O. cbn [den andb].
    now rewrite O.
  - destruct (known_zero A (EHist s m p)) eqn:Z; auto.
    now rewrite (known_zero_ok _ _ _ _ V Z).
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
  destruct (mem (z, EC 0) A) eqn:M; [|destruct H as [<-|[]]; reflexivity].
  apply mem_In in M. apply V in M. cbn [den] in M. apply in_map_iff in H as (y & <- & H).
  rewrite mk_ok by auto. cbn [den alu_nat].
  rewrite (ovals_ok _ (OReg z) _ _ _ V H). cbn [value]. lia.
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
  intros E V r x H. apply in_app_or in H as [H|H].
  - apply filter_In in H as [H N]. simpl in N. unfold exec, upd.
    destruct (r =? dst o); [discriminate|]. now apply V.
  - apply in_map_iff in H as (y & Heq & H). inversion Heq; subst.
    apply firstn_In, by_size_In, distinct_In in H. rewrite (results_ok _ _ _ _ _ _ E V H).
    unfold exec. now rewrite upd_eq.
Qed.

(** * Facts over the entry and exit of a body *)

Section Bodies.
  Variable path : loopid -> list loopid.

  (* What entering l does to the counters. *)
  Definition entered (l : loopid) (g g' : genv) :=
    (forall x, gtot g' x = if x =? l then gtot g l + 1 else gtot g x) /\
    (forall x, ghat g' x = if x =? l then ghat g l + 1 else ghat g x) /\
    (forall m p, ghist g' l (m + 1) p = ghist g l m p) /\
    (forall s m p, s <> l -> m <> 0 -> ghist g' s m p = ghist g s m p) /\
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

  Lemma enter_ok l A g g' rf : entered l g g' -> valid A g rf -> valid (enter path l A) g' rf.
  Proof.
    intros R V r x H. apply in_flat_map in H as ([r0 x0] & HA & H). specialize (V _ _ HA).
    unfold enter1 in H; simpl in H. apply in_app_or in H as [H|H].
    - destruct (after_entry l x0) eqn:E; [|contradiction].
      destruct H as [H|[]]; inversion H; subst. rewrite V. symmetry. eapply after_entry_ok; eauto.
    - destruct (as_past path l x0) eqn:E; [|contradiction].
      destruct H as [H|[]]; inversion H; subst. rewrite V. symmetry. eapply as_past_ok; eauto.
  Qed.

  Lemma survives_exit_ok l g g' x :
    left_body l g g' -> survives_exit l x = true -> den x g' = den x g.
  Proof.
    intros (Ht & Hh & Hs). induction x; simpl; intros E; auto; try now rewrite ?Ht.
    - apply Hh. destruct (Nat.eqb_spec l0 l); auto; discriminate.
    - rewrite Hh; auto. destruct (Nat.eqb_spec l0 l); auto; discriminate.
    - apply andb_true_iff in E as [E1 E2]. now rewrite IHx1, IHx2.
  Qed.

  Lemma leave_ok l A g g' rf : left_body l g g' -> valid A g rf -> valid (leave l A) g' rf.
  Proof.
    intros R V r x H. apply filter_In in H as [H E]. rewrite (V _ _ H). symmetry.
    eapply survives_exit_ok; eauto.
  Qed.

  Lemma is_const_ok x n g : is_const x n = true -> den x g = n.
  Proof. destruct x; simpl; try discriminate. now intros ->%Nat.eqb_eq. Qed.

  Lemma header_ok l A g rf : ghat g l = 0 -> valid A g rf -> valid (header l A) g rf.
  Proof.
    intros Z V r x H. apply in_app_or in H as [H|H]; auto.
    apply in_flat_map in H as ([r0 x0] & HA & H). simpl in H.
    destruct (is_const x0 0) eqn:E; [|contradiction].
    destruct H as [H|[]]; inversion H; subst. simpl. rewrite (V _ _ HA), Z. now apply is_const_ok.
  Qed.
End Bodies.

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

(** * Accepted code *)

Section Sound.
  Variable T : tables.
  Variable signals : instr -> option sema.
  Variable e : engine.
  Variable inv : loopid -> facts.
  Notation chk := (chk T signals e inv).
  Notation items := (items T signals).

  (* What encloses the position is accepted, from facts A at the end of the inner body. *)
  Fixpoint kont_ok (A : facts) (k : kont item) : Prop :=
    match k with
    | KStop => True
    | KLoop l n b r k =>
        sub (inv l) A = true /\
        (exists A', chk (l :: active k) (enter (path T) l (inv l)) b = Some A' /\
                    sub (inv l) A' = true) /\
        exists A2, chk (active k) (leave l (inv l)) r = Some A2 /\ kont_ok A2 k
    | KCond l r k =>
        exists M A2, sub M (leave l A) = true /\ chk (active k) M r = Some A2 /\ kont_ok A2 k
    end.

  (* The rest of the code at a position is accepted, from facts A and waited dependences Dn. *)
  Definition pos_ok (A : facts) (Dn : list dep) (p : pos item) : Prop :=
    exists A1 A2, items (active (kon p)) A Dn (cur p) = Some A1 /\
      chk (active (kon p)) A1 (cod p) = Some A2 /\ kont_ok A2 (kon p).

  Variable C : Type.
  Variables (guard : engine -> loopid -> C -> bool) (ctl : engine -> loopid -> C -> C).
  Notation E := (epos instr_of).
  Notation EK := (ekont instr_of).

  Lemma trips_erased_outside (k : kont item) l :
    wfk T e (EK k) -> ~ In l (active k) -> trips (EK k) l = 0.
  Proof. intros W N. apply (trips_outside T e); auto. now rewrite active_erased. Qed.

  Theorem chk_step p c p' c' ev A Dn n rf :
    cstep guard ctl e p c p' c' ev -> pos_ok A Dn p -> wfp T e (E p) ->
    HI T n (active (kon p)) -> valid A (genv_of n (trips (EK (kon p)))) rf ->
    exists A', pos_ok A' [] p' /\
      valid A' (genv_of (count_event (kon (E p')) ev n) (trips (EK (kon p')))) rf.
  Proof.
    intros St (A1 & A2 & HItems & HC & HK) W H V.
    assert (Entry : forall l B, ev = Some l -> valid B (genv_of n (trips (EK (kon p)))) rf ->
      valid (enter (path T) l B)
        (genv_of (enter_counts (EK (kon p')) l n) (trips (EK (kon p')))) rf).
    { intros l B -> VB. pose proof (cstep_erase instr_of St) as SE.
      eapply enter_ok; [|exact VB]. eapply entered_of; [exact H|].
      exact (trips_on_entry _ _ _ _ _ _ _ _ _ _ SE W). }
    destruct St; cbn [cur cod kon epos ekont count_event] in *;
      inversion HItems; subst A1; clear HItems; cbn [Checker.chk] in HC.
    - (* block *)
      destruct (items (active k) A [] (nth e f [])) as [A'|] eqn:Ei; [|discriminate].
      exists A. split; auto. exists A', A2. auto.
    - (* first entry of a loop *)
      destruct W as (Wk & ((Hn & _) & _) & _). cbn [kon epos ekont] in *.
      try rewrite active_erased in Hn.
      destruct (sub (inv l) (header l A)) eqn:S1; [|discriminate].
      destruct (chk (l :: active k) (enter (path T) l (inv l)) b) as [A'|] eqn:Eb; [|discriminate].
      destruct (sub (inv l) A') eqn:S2; [|discriminate].
      exists (enter (path T) l (inv l)). split.
      + exists (enter (path T) l (inv l)), A'. cbn. eauto 10.
      + apply Entry; auto. eapply sub_valid; [exact S1|]. apply header_ok; auto.
        cbn [genv_of ghat]. now apply trips_erased_outside.
    - (* loop not entered *)
      destruct W as (Wk & ((Hn & _) & _) & _). cbn [kon epos ekont] in *.
      try rewrite active_erased in Hn.
      destruct (sub (inv l) (header l A)) eqn:S1; [|discriminate].
      destruct (chk (l :: active k) (enter (path T) l (inv l)) b) as [A'|] eqn:Eb; [|discriminate].
      destruct (sub (inv l) A') eqn:S2; [|discriminate].
      exists (leave l (inv l)). split; [exists (leave l (inv l)), A2; cbn; auto|].
      eapply leave_ok; [apply left_body_of; reflexivity|].
      eapply sub_valid; [exact S1|]. apply header_ok; auto.
      cbn [genv_of ghat]. now apply trips_erased_outside.
    - (* back edge *)
      inversion HC; subst A2. cbn [kont_ok] in HK.
      destruct HK as (S1 & (A' & Eb & S2) & A3 & Er & K3).
      exists (enter (path T) l (inv l)). split.
      + exists (enter (path T) l (inv l)), A'. cbn. eauto 10.
      + apply Entry; auto. eapply sub_valid; [exact S1|exact V].
    - (* loop left *)
      inversion HC; subst A2. cbn [kont_ok] in HK.
      destruct HK as (S1 & _ & A3 & Er & K3).
      exists (leave l (inv l)). split; [exists (leave l (inv l)), A3; cbn; auto|].
      eapply leave_ok; [apply left_body_of|eapply sub_valid; [exact S1|exact V]].
      intros x N. simpl. destruct (Nat.eqb_spec x l); congruence.
    - (* then branch *)
      destruct W as (Wk & ((Hn & _) & _) & _). cbn [kon epos ekont] in *.
      try rewrite active_erased in Hn.
      destruct (chk (lt :: active k) _ bt) as [At|] eqn:Et; [|discriminate].
      destruct (chk (lf :: active k) _ bf) as [Af|] eqn:Ef; [|discriminate].
      exists (enter (path T) lt A). split.
      + exists (enter (path T) lt A), At. cbn. split; auto. split; auto.
        exists (meet (leave lt At) (leave lf Af)), A2. split; auto. apply sub_meet_left.
      + apply Entry; auto.
    - (* else branch *)
      destruct W as (Wk & (_ & (Hn & _) & _) & _). cbn [kon epos ekont] in *.
      try rewrite active_erased in Hn.
      destruct (chk (lt :: active k) _ bt) as [At|] eqn:Et; [|discriminate].
      destruct (chk (lf :: active k) _ bf) as [Af|] eqn:Ef; [|discriminate].
      exists (enter (path T) lf A). split.
      + exists (enter (path T) lf A), Af. cbn. split; auto. split; auto.
        exists (meet (leave lt At) (leave lf Af)), A2. split; auto. apply sub_meet_right.
      + apply Entry; auto.
    - (* branch left *)
      inversion HC; subst A2. cbn [kont_ok] in HK. destruct HK as (M & A3 & S1 & Er & K3).
      exists M. split; [exists M, A3; cbn; auto|].
      eapply sub_valid; [exact S1|]. eapply leave_ok; [|exact V]. apply left_body_of.
      intros x N. simpl. destruct (Nat.eqb_spec x l); congruence.
  Qed.
End Sound.

(** * The wait *)

Section Wait.
  Variable T : tables.
  Variable signals : instr -> option sema.
  Variable act : list loopid.
  Variables (c : counts) (h : loopid -> nat).
  Hypothesis EH : HI T c act.
  Hypothesis EO : env_ok act (genv_of c h).
  Hypothesis ER : h ROOT = 1.
  Let g := genv_of c h.

  Lemma nodupb_NoDup xs : nodupb xs = true -> NoDup xs.
  Proof.
    induction xs; simpl; constructor; apply andb_true_iff in H as [N1 N2]; auto.
    intro X. apply inb_In in X. rewrite X in N1. discriminate.
  Qed.

  Lemma place_at_pos xs i : nodupb xs = true -> 1 <= place xs i -> at_pos xs i (place xs i).
  Proof.
    intros ND H1. split; [now apply nodupb_NoDup|]. split; auto. clear ND.
    induction xs; simpl in *; [lia|]. destruct (Nat.eqb_spec a i); [subst; auto|].
    destruct (place xs i) eqn:Q; [lia|]. simpl in *. rewrite Nat.sub_0_r in IHxs. apply IHxs. lia.
  Qed.

  Lemma hat_of_ok l : den (hat_of l) g = h l.
  Proof. unfold hat_of. destruct (Nat.eqb_spec l ROOT) as [->|]; simpl; auto. Qed.

  Lemma tot_of_ok l : den (tot_of l) g = tot c l.
  Proof.
    unfold tot_of. destruct (Nat.eqb_spec l ROOT) as [->|]; simpl; auto.
    symmetry. apply (hi_root _ _ _ EH).
  Qed.

  Lemma past_of_ok s m p : In s (path T p) -> den (past_of act s m p) g = past c s m p.
  Proof.
    intros Hp. unfold past_of. destruct (Nat.eqb_spec p s) as [->|].
    - rewrite mk_ok, tot_of_ok by auto. simpl. symmetry. eapply past_self; eauto.
    - destruct (Nat.eqb_spec m 0) as [->|].
      { rewrite tot_of_ok. symmetry. eapply past_0; eauto. }
      destruct (Nat.eqb_spec s ROOT) as [->|]; [|reflexivity]. unfold past.
      rewrite (hi_root _ _ _ EH). replace (1 - m) with 0 by lia. reflexivity.
  Qed.

  Lemma runs_ok p x : distance_ok T act p x = true -> den (runs act p x) g = needed h c p x.
  Proof.
    destruct x as [s k|f|s k b back ahead]; cbn [distance_ok runs needed]; intros Hd;
      repeat rewrite andb_true_iff in Hd.
    - apply past_of_ok. now apply inb_In.
    - rewrite mk_ok, tot_of_ok by auto. reflexivity.
    - destruct Hd as (((_ & Hp) & _) & _). apply inb_In in Hp.
      repeat rewrite mk_ok by auto. rewrite !past_of_ok, hat_of_ok by auto. reflexivity.
  Qed.

  Lemma gt_decides n m : (alu_nat AGt n m = 0 /\ n <= m) \/ (alu_nat AGt n m = 1 /\ ~ n <= m).
  Proof. simpl. destruct (Nat.ltb_spec m n); [right|left]; split; auto; lia. Qed.

  Lemma mask_decides p x :
    den (mask act p x) g = 0 /\ unowed h c p x \/ den (mask act p x) g = 1 /\ ~ unowed h c p x.
  Proof.
    destruct x as [s k|f|s k b back ahead]; cbn [mask unowed]; repeat rewrite mk_ok by auto;
      rewrite ?hat_of_ok, ?tot_of_ok; cbn [den].
    - destruct (gt_decides (h s) k) as [[-> ?]|[-> ?]]; auto.
    - destruct (gt_decides (tot c p) f) as [[-> ?]|[-> ?]]; auto.
    - destruct (gt_decides (h s) k) as [[-> ?]|[-> ?]];
        destruct (gt_decides (alu_nat AAdd (h b) ahead) back) as [[-> X]|[-> X]];
        simpl in X |- *; tauto.
  Qed.

  (* The key equivalence: the condition of the specification, and the test of the semaphore. *)
  Theorem wait_iff d ws (retired sem val : nat) q z t :
    distance_ok T act (home T (prd d)) (dist d) = true ->
    nodupb (group T signals ws (prd d)) = true ->
    1 <= place (group T signals ws (prd d)) (prd d) ->
    1 <= weight T (que T (prd d)) ->
    val = den (threshold T signals act ws d) g ->
    q ++ z = cyc (group T signals ws (prd d)) t ->
    retired = cnt q (prd d) -> sem = weight T (que T (prd d)) * length q ->
    (unowed h c (home T (prd d)) (dist d) \/ needed h c (home T (prd d)) (dist d) <= retired)
      <-> val <= sem.
  Proof.
    intros Hd ND HK HW -> HQ -> ->.
    pose proof (weighted_sema_reached_iff_retired _ _ _ _ t q z
                  (needed h c (home T (prd d)) (dist d)) HW (place_at_pos _ _ ND HK) HQ) as Dc.
    unfold threshold. repeat rewrite mk_ok by auto. rewrite runs_ok by auto. cbn [den alu_nat].
    destruct (mask_decides (home T (prd d)) (dist d)) as [[-> M]|[-> M]].
    - rewrite Nat.mul_0_l. split; [lia|auto].
    - rewrite Nat.mul_1_l, <- Dc. tauto.
  Qed.

  (** ** Dominance *)

  Lemma count_le_ok a b : count_le T a b = true -> den a g <= den b g.
  Proof.
    unfold count_le. rewrite orb_true_iff. intros [H|H].
    - apply expr_eqb_eq in H. now subst.
    - destruct a; try discriminate. destruct b; try discriminate;
        repeat rewrite andb_true_iff in H.
      + destruct H as [H1 H2]. apply Nat.eqb_eq in H1. subst. apply inb_In in H2. simpl.
        rewrite <- (past_0 T _ _ _ _ EH H2). apply past_antitone. lia.
      + destruct H as [[H1 H2] H3]. apply Nat.eqb_eq in H1, H2. apply Nat.leb_le in H3. subst.
        simpl. now apply past_antitone.
  Qed.

  Lemma base_le_ok a b : base_le T a b = true -> den a g <= den b g.
  Proof.
    unfold base_le. rewrite orb_true_iff. intros [H|H]; [now apply count_le_ok|].
    destruct a as [| | | | | |[] u v]; try discriminate. apply count_le_ok in H. simpl. lia.
  Qed.

  Definition value_of (a : linear) : nat := factor a * den (base a) g + plus a - minus a.

  Lemma scaled_of_ok a p m : value_of (scaled_of a p m) = den a g + p - m.
  Proof.
    destruct a as [| | | | | |[] a b]; unfold value_of; simpl; try lia.
    destruct a; simpl; lia.
  Qed.

  Lemma linear_of_ok a : value_of (linear_of a) = den a g.
  Proof.
    destruct a as [n| | | | | |[] a b]; unfold linear_of; try (rewrite scaled_of_ok; simpl; lia);
      try (unfold value_of; simpl; lia).
    - destruct b; rewrite scaled_of_ok; simpl; lia.
    - destruct b; rewrite scaled_of_ok; simpl; lia.
  Qed.

  Lemma linear_le_ok a b : linear_le T a b = true -> value_of a <= value_of b.
  Proof.
    unfold linear_le, value_of. rewrite andb_true_iff, orb_true_iff. intros [H H2].
    apply Nat.leb_le in H2. destruct H as [H|H].
    - apply Nat.eqb_eq in H. rewrite H. lia.
    - apply andb_true_iff in H as [H1 H]. apply Nat.eqb_eq in H1. apply base_le_ok in H.
      rewrite H1. pose proof (Nat.mul_le_mono_l _ _ (factor b) H). lia.
  Qed.

  Lemma mask_is_bit a : is_mask a = true -> den a g <= 1.
  Proof.
    induction a as [| | | | | |[] a IHa b IHb]; simpl; try discriminate.
    - rewrite andb_true_iff. intros [H1 H2]. apply IHa in H1. apply IHb in H2. nia.
    - intros _. destruct (_ <? _); lia.
  Qed.

  Lemma mask_le_ok a b : mask_le a b = true -> den a g <= den b g.
  Proof.
    revert b. induction a as [| | | | | |o x IHx y IHy]; intros b; cbn [mask_le];
      rewrite orb_true_iff; (intros [H|H]; [apply expr_eqb_eq in H; now subst|]);
      try discriminate. destruct o; try discriminate.
    - apply andb_true_iff in H as [H1 H2]. apply mask_is_bit in H1. apply IHx in H2. simpl. nia.
    - destruct y; try discriminate. destruct b as [| | | | | |[] b []]; try discriminate.
      apply andb_true_iff in H as [H1 H2]. apply expr_eqb_eq in H1. apply Nat.leb_le in H2. subst.
      simpl. destruct (Nat.ltb_spec n (den b g)), (Nat.ltb_spec n0 (den b g)); lia.
  Qed.

  Lemma masked_of_ok a : den a g = match masked_of a with
    | (Some m, x) => den m g * den x g
    | (None, x) => den x g
    end /\ (forall m x, masked_of a = (Some m, x) -> is_mask m = true).
  Proof.
    destruct a as [| | | | | |[] a b]; try (split; [reflexivity|discriminate]).
    simpl. destruct (is_mask a) eqn:M; (split; [reflexivity|]); [|discriminate].
    intros m x H. injection H as <- <-. exact M.
  Qed.

  Lemma at_most_ok a b : at_most T a b = true -> den a g <= den b g.
  Proof.
    unfold at_most. rewrite orb_true_iff. intros [H|H].
    - apply expr_eqb_eq in H. now subst.
    - destruct (masked_of_ok a) as [Ea Ma], (masked_of_ok b) as [Eb Mb]. rewrite Ea, Eb.
      destruct (masked_of a) as [[m|] x], (masked_of b) as [[m'|] y]; try discriminate;
        repeat rewrite andb_true_iff in H.
      + destruct H as [H1 H2]. apply mask_le_ok in H1. apply linear_le_ok in H2.
        rewrite !linear_of_ok in H2. now apply Nat.mul_le_mono.
      + apply linear_le_ok in H. rewrite !linear_of_ok in H.
        pose proof (mask_is_bit _ (Ma _ _ eq_refl)). nia.
      + apply linear_le_ok in H. now rewrite !linear_of_ok in H.
  Qed.

  Lemma never_owed_ok d : never_owed T act d = true -> unowed h c (home T (prd d)) (dist d).
  Proof.
    unfold never_owed. rewrite andb_true_iff. intros [_ H]. apply expr_eqb_eq in H.
    destruct (mask_decides (home T (prd d)) (dist d)) as [[_ M]|[M _]]; auto.
    rewrite H in M. discriminate.
  Qed.
End Wait.
