(* Opposite.v -- while one branch of a conditional is taken, the other is not ahead

   Purpose   A dependence between the two branches of a conditional is legal at distance 0, as the
             producer does not run in the consumer's iteration. DataSound.v needs to know that
             control cannot enter the one branch from inside the other without a new iteration of
             something around both.
   Paper     a conditional is there a loop of at most one trip
   C++       -
   Trusted   nothing *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics Decode Expr Checker Invariant CheckerSound Bisimulation.
From Tally Require Import Legality Certificate Vectors SequentialOrder VectorInvariant Adequacy.
From Tally Require Import StillToCome DataSound.

Lemma branches_numbered c : forall lo hi t f, numbered lo c = Some hi -> In (t, f) (branches c) ->
  lo <= t < hi /\ lo <= f < hi.
Proof.
  induction c; cbn [numbered branches]; intros lo hi x y H Hx; numbered_cases H.
  - contradiction.
  - eauto.
  - pose proof (numbered_monotone _ _ _ E). pose proof (numbered_monotone _ _ _ H).
    apply in_app_or in Hx as [Hx|Hx]; [specialize (IHc1 _ _ _ _ E Hx)|
      specialize (IHc2 _ _ _ _ H Hx)]; lia.
  - pose proof (numbered_monotone _ _ _ E). pose proof (numbered_monotone _ _ _ E0).
    pose proof (numbered_monotone _ _ _ H). destruct Hx as [Hx|Hx]; [inversion Hx; subst; lia|].
    apply in_app_or in Hx as [Hx|Hx]; [specialize (IHc1 _ _ _ _ E Hx); lia|].
    apply in_app_or in Hx as [Hx|Hx]; [specialize (IHc2 _ _ _ _ E0 Hx)|
      specialize (IHc3 _ _ _ _ H Hx)]; lia.
Qed.

Section Opposite.
  Variable T : tables.
  Variable opposite : loopid -> loopid -> bool.

  (* A loop is opposite to nothing, a branch only to the other one. *)
  Fixpoint pairs_fit (c : code instr) : Prop :=
    match c with
    | CNil => True
    | CBlock _ r => pairs_fit r
    | CLoop l b r => (forall x, opposite l x = true -> False) /\ pairs_fit b /\ pairs_fit r
    | CCond t f bt bf r =>
        (forall x, opposite t x = true -> x = f) /\ (forall x, opposite f x = true -> x = t) /\
        pairs_fit bt /\ pairs_fit bf /\ pairs_fit r
    end.

  Definition is_pair (c : code instr) (a b : loopid) : Prop :=
    In (a, b) (branches c) \/ In (b, a) (branches c).

  Lemma pairs_fit_numbered c : forall lo hi, numbered lo c = Some hi ->
    (forall a b, lo <= a < hi -> opposite a b = true -> is_pair c a b) -> pairs_fit c.
  Proof.
    assert (RANGE : forall c lo hi a b, numbered lo c = Some hi -> is_pair c a b ->
      lo <= a < hi /\ lo <= b < hi).
    { intros c0 lo hi a b N [X|X]; pose proof (branches_numbered _ _ _ _ _ N X); lia. }
    induction c; cbn [numbered pairs_fit]; intros lo hi H P; numbered_cases H.
    - exact I.
    - eapply IHc; eauto.
    - pose proof (numbered_monotone _ _ _ E). pose proof (numbered_monotone _ _ _ H).
      assert (CASES : forall a b, lo <= a < hi -> opposite a b = true ->
        is_pair c1 a b \/ is_pair c2 a b).
      { intros a b Ha O. destruct (P a b Ha O) as [X|X]; apply in_app_or in X as [X|X];
          unfold is_pair; auto. }
      split; [|split].
      + intros x O. destruct (CASES l x ltac:(lia) O) as [X|X].
        * pose proof (RANGE _ _ _ _ _ E X). lia.
        * pose proof (RANGE _ _ _ _ _ H X). lia.
      + eapply IHc1; eauto. intros a b Ha O. destruct (CASES a b ltac:(lia) O) as [X|X]; auto.
        pose proof (RANGE _ _ _ _ _ H X). lia.
      + eapply IHc2; eauto. intros a b Ha O. destruct (CASES a b ltac:(lia) O) as [X|X]; auto.
        pose proof (RANGE _ _ _ _ _ E X). lia.
    - pose proof (numbered_monotone _ _ _ E). pose proof (numbered_monotone _ _ _ E0).
      pose proof (numbered_monotone _ _ _ H).
      assert (CASES : forall a b, lo <= a < hi -> opposite a b = true ->
        a = lt /\ b = lf \/ a = lf /\ b = lt \/ is_pair c1 a b \/ is_pair c2 a b \/ is_pair c3 a b).
      { intros a b Ha O.
        destruct (P a b Ha O) as [X|X]; (destruct X as [X|X]; [inversion X; subst; auto|]);
          apply in_app_or in X as [X|X]; [|apply in_app_or in X as [X|X]|
                                           |apply in_app_or in X as [X|X]];
          unfold is_pair; auto 7. }
      assert (SUB : forall a b, lo <= a < hi -> opposite a b = true ->
        a = lt /\ b = lf \/ a = lf /\ b = lt \/
        (S lt <= a < n /\ is_pair c1 a b) \/ (S lf <= a < n0 /\ is_pair c2 a b) \/
        (n0 <= a < hi /\ is_pair c3 a b)).
      { intros a b Ha O. destruct (CASES a b Ha O) as [X|[X|[X|[X|X]]]]; auto.
        - pose proof (RANGE _ _ _ _ _ E X). right. right. left. split; auto. lia.
        - pose proof (RANGE _ _ _ _ _ E0 X). right. right. right. left. split; auto. lia.
        - pose proof (RANGE _ _ _ _ _ H X). right. right. right. right. split; auto. lia. }
      clear CASES RANGE P.
      split; [|split; [|split; [|split]]].
      + intros x O. destruct (SUB lt x ltac:(lia) O) as [X|[X|[X|[X|X]]]]; lia.
      + intros x O. destruct (SUB lf x ltac:(lia) O) as [X|[X|[X|[X|X]]]]; lia.
      + eapply IHc1; eauto. intros a b Ha O.
        destruct (SUB a b ltac:(lia) O) as [X|[X|[X|[X|X]]]]; try lia. apply X.
      + eapply IHc2; eauto. intros a b Ha O.
        destruct (SUB a b ltac:(lia) O) as [X|[X|[X|[X|X]]]]; try lia. apply X.
      + eapply IHc3; eauto. intros a b Ha O.
        destruct (SUB a b ltac:(lia) O) as [X|[X|[X|[X|X]]]]; try lia. apply X.
  Qed.

  (** * At a position *)

  Fixpoint kont_fit (k : kont instr) : Prop :=
    match k with
    | KStop => True
    | KLoop l n b r k =>
        (forall x, opposite l x = true -> False) /\ pairs_fit b /\ pairs_fit r /\ kont_fit k
    | KCond l r k => pairs_fit r /\ kont_fit k
    end.

  (* Bodies in what comes after the enclosing statements. *)
  Fixpoint rests (k : kont instr) : list loopid :=
    match k with KStop => [] | KLoop _ _ _ r k | KCond _ r k => loops_of r ++ rests k end.

  (* Nothing in an active loop is opposite to what is around the loop. *)
  Fixpoint bodies_apart (k : kont instr) : Prop :=
    match k with
    | KStop => True
    | KLoop _ _ b _ k =>
        (forall a x, In a (active k) -> opposite a x = true -> ~ In x (loops_of b)) /\
        bodies_apart k
    | KCond _ _ k => bodies_apart k
    end.

  Record apart (p : pos instr) : Prop := {
    ap_code : pairs_fit (cod p);
    ap_kont : kont_fit (kon p);
    ap_bodies : bodies_apart (kon p);
    ap_ahead : forall a x, In a (active (kon p)) -> opposite a x = true ->
      ~ In x (loops_of (cod p)) /\ ~ In x (rests (kon p)) /\ ~ In x (active (kon p)) }.

  Lemma rests_numbered x k : forall h, kont_numbered h k -> In x (rests k) -> h <= x.
  Proof.
    induction k; cbn [kont_numbered rests]; intros h HK Hx; [contradiction| |].
    - destruct HK as (_ & h' & Er & K). pose proof (numbered_monotone _ _ _ Er).
      apply in_app_or in Hx as [Hx|Hx].
      + pose proof (numbered_loops _ _ _ _ Er Hx). lia.
      + specialize (IHk _ K Hx). lia.
    - destruct HK as (m & h' & L & _ & Er & K). pose proof (numbered_monotone _ _ _ Er).
      apply in_app_or in Hx as [Hx|Hx].
      + pose proof (numbered_loops _ _ _ _ Er Hx). lia.
      + specialize (IHk _ K Hx). lia.
  Qed.

  Variable C : Type.
  Variables (guard : engine -> loopid -> C -> bool) (ctl : engine -> loopid -> C -> C).

  Lemma apart_step e p c p' c' ev : cstep guard ctl e p c p' c' ev -> pos_numbered p -> apart p ->
    apart p'.
  Proof.
    intros St (lo & h & HA & HC & HK) [F K B A].
    pose proof (fun x => rests_numbered x _ _ HK) as RN.
    assert (BELOW : forall x y, In x (active (kon p)) -> lo <= y -> x <> y).
    { intros x y Hx Hy E. specialize (HA x Hx). lia. }
    destruct St; cbn [cod kon] in *;
      cbn [numbered pairs_fit kont_fit bodies_apart loops_of rests active] in *.
    - constructor; auto.
    - destruct F as (F1 & F2 & F3). constructor; cbn; auto.
      + split; auto. intros a x Ha O Hx. apply (proj1 (A a x Ha O)). right.
        apply in_or_app. auto.
      + intros a x [<-|Ha] O; [destruct (F1 x O)|].
        destruct (A a x Ha O) as (A1 & A2 & A3). rewrite !in_app_iff. simpl in A1.
        rewrite in_app_iff in A1. tauto.
    - destruct F as (F1 & F2 & F3). constructor; cbn; auto. intros a x Ha O.
      destruct (A a x Ha O) as (A1 & A2 & A3). simpl in A1. rewrite in_app_iff in A1. tauto.
    - destruct K as (K1 & K2 & K3 & K4), B as (B1 & B2). constructor; cbn; auto.
      intros a x [<-|Ha] O; [destruct (K1 x O)|].
      destruct (A a x (or_intror Ha) O) as (A1 & A2 & A3). split; [|auto]. eapply B1; eauto.
    - destruct K as (K1 & K2 & K3 & K4), B as (B1 & B2). constructor; cbn; auto.
      intros a x Ha O. destruct (A a x (or_intror Ha) O) as (A1 & A2 & A3).
      rewrite in_app_iff in A2. simpl in A3. tauto.
    - destruct F as (F1 & F2 & F3 & F4 & F5). numbered_cases HC.
      pose proof (numbered_monotone _ _ _ E). pose proof (numbered_monotone _ _ _ E0).
      pose proof (numbered_monotone _ _ _ HC).
      constructor; cbn; auto. intros a x [<-|Ha] O.
      + apply F1 in O. subst x. split; [|split].
        * intros X. pose proof (numbered_loops _ _ _ _ E X). lia.
        * intros X. apply in_app_or in X as [X|X].
          -- pose proof (numbered_loops _ _ _ _ HC X). lia.
          -- apply RN in X. lia.
        * intros [X|X]; [lia|]. revert X. intros X. apply (BELOW _ lf X); lia.
      + destruct (A a x Ha O) as (A1 & A2 & A3). simpl in A1. rewrite !in_app_iff in *.
        simpl in A1. rewrite in_app_iff in A1. tauto.
    - destruct F as (F1 & F2 & F3 & F4 & F5). numbered_cases HC.
      pose proof (numbered_monotone _ _ _ E). pose proof (numbered_monotone _ _ _ E0).
      pose proof (numbered_monotone _ _ _ HC).
      constructor; cbn; auto. intros a x [<-|Ha] O.
      + apply F2 in O. subst x. split; [|split].
        * intros X. pose proof (numbered_loops _ _ _ _ E0 X). lia.
        * intros X. apply in_app_or in X as [X|X].
          -- pose proof (numbered_loops _ _ _ _ HC X). lia.
          -- apply RN in X. lia.
        * intros [X|X]; [lia|]. apply (BELOW _ lt X); lia.
      + destruct (A a x Ha O) as (A1 & A2 & A3). simpl in A1. rewrite !in_app_iff in *.
        simpl in A1. rewrite in_app_iff in A1. tauto.
    - destruct K as (K1 & K2). constructor; cbn; auto.
      intros a x Ha O. destruct (A a x (or_intror Ha) O) as (A1 & A2 & A3).
      rewrite in_app_iff in A2. simpl in A3. tauto.
  Qed.

  (* A body nested in code lies in bodies of that code and in those around it. *)
  Lemma path_of_nested e act c x y : wfc T e act c -> In x (loops_of c) -> In y (path T x) ->
    In y act \/ In y (loops_of c).
  Proof.
    revert act. induction c; cbn [wfc loops_of]; intros act W Hx Hy.
    - contradiction.
    - destruct W as [_ W]. eauto.
    - destruct W as ((_ & HP & _) & W1 & W2). simpl. rewrite in_app_iff.
      destruct Hx as [<-|Hx].
      + rewrite HP in Hy. destruct Hy; auto.
      + apply in_app_or in Hx as [Hx|Hx].
        * destruct (IHc1 _ W1 Hx Hy) as [[|]|]; auto.
        * destruct (IHc2 _ W2 Hx Hy) as [|]; auto.
    - destruct W as ((_ & HP & _) & (_ & HP' & _) & W1 & W2 & W3). simpl. rewrite !in_app_iff.
      simpl.
      rewrite !in_app_iff. destruct Hx as [<-|Hx].
      { rewrite HP in Hy. destruct Hy; auto. }
      apply in_app_or in Hx as [Hx|[<-|Hx]].
      + destruct (IHc1 _ W1 Hx Hy) as [[|]|]; auto.
      + rewrite HP' in Hy. destruct Hy; auto.
      + apply in_app_or in Hx as [Hx|Hx].
        * destruct (IHc2 _ W2 Hx Hy) as [[|]|]; auto 6.
        * destruct (IHc3 _ W3 Hx Hy) as [|]; auto 6.
  Qed.

  Lemma opposite_not_around e q s x k : wfk T e k -> In x (path T q) ->
    innermost_around T q s (active k) -> ~ In x (rests k) -> ~ In x (active k) ->
    ~ In q (still_around s k).
  Proof.
    unfold innermost_around.
    induction k; cbn [wfk active still_around rests find]; intros W Hx F N1 N2 Hq.
    - contradiction.
    - destruct W as (((_ & HP & _) & _) & Wb & Wr & Wk).
      destruct (Nat.eqb_spec l s) as [|N]; [contradiction|].
      destruct (inb l (path T q)) eqn:I; [congruence|]. apply inb_not_In in I.
      rewrite in_app_iff in N1. simpl in N2.
      destruct Hq as [<-|Hq]; [apply I; rewrite HP; now left|].
      apply in_app_or in Hq as [Hq|Hq].
      { apply I. apply (loops_inside T e _ _ _ Wb Hq). now left. }
      apply in_app_or in Hq as [Hq|Hq]; [|tauto].
      destruct (path_of_nested _ _ _ _ _ Wr Hq Hx); tauto.
    - destruct W as (_ & _ & Wr & Wk).
      destruct (Nat.eqb_spec l s) as [|N]; [contradiction|].
      destruct (inb l (path T q)) eqn:I; [congruence|].
      rewrite in_app_iff in N1. simpl in N2.
      apply in_app_or in Hq as [Hq|Hq]; [|tauto].
      destruct (path_of_nested _ _ _ _ _ Wr Hq Hx); tauto.
  Qed.

  Variable Ps : code instr.
  Variable c0 : engine -> C.
  Variable hi : nat.
  Hypothesis HWF : well_formed T Ps.
  Hypothesis HN : numbered 1 Ps = Some hi.
  Hypothesis HO : forall a b, opposite a b = true -> is_pair Ps a b.
  Notation walk := (walk C guard ctl Ps c0).

  Lemma walk_apart e n p c m : walk e n p c m -> apart p.
  Proof.
    induction 1 as [|n i cu co k c m W IH|n p c m p' c' ev W IH St].
    - constructor; cbn; auto; [eapply pairs_fit_numbered; eauto|].
      intros a x [<-|[]] O. apply HO in O.
      destruct O as [O|O]; pose proof (branches_numbered _ _ _ _ _ HN O); unfold ROOT in *; lia.
    - destruct IH. constructor; auto.
    - eapply apart_step; eauto.
      eapply (ad_numbered T). eapply (walk_adequate T C guard ctl Ps c0); eauto.
  Qed.

  Theorem opposite_not_ahead e n p c m s q act : walk e n p c m -> act = active (kon p) ->
    innermost_around T q s act -> existsb (fun x => existsb (opposite x) (path T q)) act = true ->
    ~ In q (still_inside s p).
  Proof.
    intros W -> F O. apply existsb_exists in O as (a & Ha & O).
    apply existsb_exists in O as (b & Hb & O).
    destruct (ap_ahead _ (walk_apart _ _ _ _ _ W) a b Ha O) as (N1 & N2 & N3).
    pose proof (walk_keeps T C guard ctl Ps c0 HWF _ _ _ _ _ W) as [(Wk & Wc & _) _ _].
    intros Hq. apply in_app_or in Hq as [Hq|Hq].
    - destruct (path_of_nested _ _ _ _ _ Wc Hq Hb); tauto.
    - eapply opposite_not_around; eauto.
  Qed.
End Opposite.
