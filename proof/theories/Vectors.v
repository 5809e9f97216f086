(* Vectors.v -- iteration vectors, the paper's equation 1 on them, and what control alone decides

   Purpose   The condition of the specification is stated over counts numbered over the whole run.
             Here is what the paper says instead: vectors of iteration numbers, a distance vector,
             the lexicographic order, and the number of entries of the producer's body up to the
             target. Adequacy.v proves that the two agree; DataSound.v speaks of the entries that an
             engine's control will ever make.
   Paper     section 3.2, equation 1
   C++       the definition by enumeration in unittests/Sync/Definition.cpp
   Trusted   the definitions, as Statement.v speaks of them *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics.

(* Outermost component first. *)
Fixpoint lex_lt (a b : list nat) : bool :=
  match a, b with
  | x :: a, y :: b => (x <? y) || ((x =? y) && lex_lt a b)
  | _, _ => false
  end.

Fixpoint lex_le (a b : list nat) : bool :=
  match a, b with
  | x :: a, y :: b => (x <? y) || ((x =? y) && lex_le a b)
  | [], _ => true
  | _ :: _, [] => false
  end.

Fixpoint vec_eqb (a b : list nat) : bool :=
  match a, b with
  | [], [] => true
  | x :: a, y :: b => (x =? y) && vec_eqb a b
  | _, _ => false
  end.

(* The iteration vectors with which a body was entered, oldest first. *)
Definition entries_of (m : counts) (p : loopid) : list (list nat) :=
  map snd (filter (fun ev => fst ev =? p) (log m)).

Definition count_if {A} (f : A -> bool) (xs : list A) : nat := length (filter f xs).

Section Distance.
  Variable T : tables.

  Definition directly_in (q s : loopid) : Prop := path T q = q :: path T s /\ In s (path T s).

  (* The iteration of body s in which the position k lies. *)
  Definition iteration {A} (k : kont A) (s : loopid) : list nat := rev (map (trips k) (path T s)).

  (* Components of the bodies around s, and of s. *)
  Definition depth (s : loopid) : nat := length (path T s).

  (* Distance k on s, 0 on what encloses it. *)
  Definition distance_on (s : loopid) (k : nat) : list nat := repeat 0 (depth s - 1) ++ [k].

  (* t = v - delta, and whether a component falls below 1. *)
  Fixpoint minus (v delta : list nat) : list nat :=
    match v, delta with x :: v, y :: delta => x - y :: minus v delta | _, _ => [] end.

  Definition underflows (v delta : list nat) : Prop :=
    exists j, j < length v /\ nth j v 0 <= nth j delta 0.

  (* Entries of p whose iteration of s comes at t or before; strictly before; exactly at t. *)
  Definition entries_up_to (m : counts) (s p : loopid) (t : list nat) : nat :=
    count_if (fun v => lex_le (firstn (depth s) v) t) (entries_of m p).

  Definition entries_before (m : counts) (s p : loopid) (t : list nat) : nat :=
    count_if (fun v => lex_lt (firstn (depth s) v) t) (entries_of m p).

  Definition entries_in (m : counts) (s p : loopid) (t : list nat) : nat :=
    count_if (fun v => vec_eqb (firstn (depth s) v) t) (entries_of m p).

  (** ** Which runs of the producer a consumer asks for *)

  (* Runs are counted by the entries of the producer's body. *)
  Inductive target :=
  | UpToIteration (s : loopid) (t : list nat)         (* those in iterations of s up to t *)
  | UpToRun (n : nat)                                 (* the first n of the whole run *)
  (* those in iterations of s before t, and the first n of those in t *)
  | UpToElement (s : loopid) (t : list nat) (n : nat).

  (* How many of them m has. *)
  Definition asked (m : counts) (p : loopid) (g : target) : nat :=
    match g with
    | UpToIteration s t => entries_up_to m s p t
    | UpToRun n => Nat.min n (length (entries_of m p))
    | UpToElement s t n => entries_before m s p t + Nat.min n (entries_in m s p t)
    end.

  (* A consumer at k that has counted m, with distance x to a producer in p: nothing is owed, or
     [done] holds of its target. At a flat distance the consumer is in the same body: this is run
     number [length (entries_of m p)] of both. *)
  Definition unless_unowed {A} (k : kont A) (m : counts) (p : loopid) (x : distance)
      (done : target -> Prop) : Prop :=
    match x with
    | Carried s d =>
        let v := iteration k s in
        underflows v (distance_on s d) \/ done (UpToIteration s (minus v (distance_on s d)))
    | Flat f =>
        let q := length (entries_of m p) in
        q <= f \/ done (UpToRun (q - f))
    | Element s d b back ahead =>
        let v := iteration k s in
        let n := trips k b + ahead in
        underflows v (distance_on s d) \/ n <= back \/
        done (UpToElement s (minus v (distance_on s d)) (n - back))
    end.
End Distance.

(** * What the control of one engine decides alone *)

Section Walk.
  Variable C : Type.
  Variables (guard : engine -> loopid -> C -> bool) (ctl : engine -> loopid -> C -> C).
  Variable Ps : code instr.
  Variable c0 : engine -> C.

  (* Engine e can be at p after n control steps, with control state c and counts m. Instructions are
     passed over: whether they have to wait makes no difference to where control goes. *)
  Inductive walk (e : engine) : nat -> pos instr -> C -> counts -> Prop :=
  | walk_start : walk e 0 (mkpos [] Ps KStop) (c0 e) counts0
  | walk_issue n i cu co k c m :
      walk e n (mkpos (i :: cu) co k) c m -> walk e n (mkpos cu co k) c m
  | walk_ctl n p c m p' c' ev : walk e n p c m -> cstep guard ctl e p c p' c' ev ->
      walk e (S n) p' c' (count_event (kon p') ev m).

  (* Every engine that enters body p as e does, as often and with the same vectors: whatever one of
     them has entered, the other has entered or will enter. Other bodies do not matter. *)
  Definition enters_alike (p : loopid) (e e' : engine) : Prop :=
    forall n x c m, walk e n x c m ->
      exists n' x' c' m' r, walk e' n' x' c' m' /\ entries_of m' p = entries_of m p ++ r.
End Walk.

(** * Facts about the order *)

Lemma lex_lt_irrefl a : lex_lt a a = false.
Proof. induction a; simpl; auto. now rewrite Nat.ltb_irrefl, Nat.eqb_refl, IHa. Qed.

Lemma lex_le_refl a : lex_le a a = true.
Proof. induction a; simpl; auto. rewrite Nat.eqb_refl, IHa. apply orb_true_r. Qed.

Lemma vec_eqb_eq a : forall b, vec_eqb a b = true -> a = b.
Proof.
  induction a; destruct b; simpl; try discriminate; auto.
  rewrite andb_true_iff, Nat.eqb_eq. intros [-> H]. f_equal. auto.
Qed.

Lemma lex_le_split a : forall b, length a = length b ->
  lex_le a b = lex_lt a b || vec_eqb a b.
Proof.
  induction a as [|x a IH]; destruct b as [|y b]; simpl; intros L; try discriminate; auto.
  rewrite IH by lia. destruct (x <? y), (x =? y); reflexivity.
Qed.

Lemma lex_lt_trans_le a : forall b c, lex_le a b = true -> lex_lt b c = true ->
  length a = length b -> lex_lt a c = true.
Proof.
  induction a as [|x a IH]; destruct b as [|y b], c as [|z c]; simpl; intros H1 H2 L;
    try discriminate.
  apply orb_true_iff in H1, H2. apply orb_true_iff.
  destruct H1 as [H1|H1], H2 as [H2|H2].
  - apply Nat.ltb_lt in H1, H2. left. apply Nat.ltb_lt. lia.
  - apply andb_true_iff in H2 as [H2 _]. apply Nat.eqb_eq in H2. subst. auto.
  - apply andb_true_iff in H1 as [H1 _]. apply Nat.eqb_eq in H1. subst. auto.
  - apply andb_true_iff in H1 as [H1 H1'], H2 as [H2 H2']. apply Nat.eqb_eq in H1, H2. subst.
    right. rewrite Nat.eqb_refl. simpl. eapply IH; eauto.
Qed.

(* A vector whose outer part is smaller is smaller. *)
Lemma lex_lt_outer a b n : lex_lt (firstn n a) b = true -> length b = n ->
  forall c, lex_lt a (b ++ c) = true.
Proof.
  revert a b. induction n; intros a b H L c.
  - destruct b; [|discriminate]. simpl in H. discriminate.
  - destruct a as [|x a], b as [|y b]; simpl in *; try discriminate.
    apply orb_true_iff in H. apply orb_true_iff. destruct H as [H|H]; auto. right.
    apply andb_true_iff in H as [-> H]. simpl. apply IHn; auto.
Qed.

Lemma lex_lt_last p x y : lex_lt (p ++ [x]) (p ++ [y]) = (x <? y).
Proof.
  induction p; simpl.
  - now rewrite andb_false_r, orb_false_r.
  - now rewrite Nat.ltb_irrefl, Nat.eqb_refl, IHp.
Qed.

(* Below the next iteration is at most the current one. *)
Lemma lex_lt_succ p n : forall a, length a = S (length p) ->
  lex_lt a (p ++ [S n]) = lex_le a (p ++ [n]).
Proof.
  induction p as [|y p IH]; intros a L; destruct a as [|x a]; simpl in *; try discriminate.
  - destruct a; [|discriminate]. simpl. rewrite andb_false_r, andb_true_r, orb_false_r.
    destruct (Nat.ltb_spec x (S n)), (Nat.ltb_spec x n), (Nat.eqb_spec x n); simpl; lia || auto.
  - rewrite IH by lia. reflexivity.
Qed.

Lemma minus_zero v : forall n, length v = n -> minus v (repeat 0 n) = v.
Proof.
  induction v; intros n H; destruct n; simpl in *; try discriminate; auto.
  rewrite Nat.sub_0_r, IHv; auto.
Qed.

Lemma minus_last p n k : minus (p ++ [n]) (repeat 0 (length p) ++ [k]) = p ++ [n - k].
Proof. induction p; simpl; auto. now rewrite Nat.sub_0_r, IHp. Qed.

Lemma underflows_last p n k : (forall x, In x p -> 1 <= x) ->
  (underflows (p ++ [n]) (repeat 0 (length p) ++ [k]) <-> n <= k).
Proof.
  intros HP. assert (LR : length (repeat 0 (length p)) = length p) by apply repeat_length.
  split.
  - intros (j & Hj & H). rewrite app_length in Hj. simpl in Hj.
    destruct (le_lt_dec (length p) j) as [L|L].
    + replace j with (length p) in H by lia.
      rewrite !app_nth2, LR, Nat.sub_diag in H by lia. exact H.
    + rewrite !app_nth1 in H by lia. rewrite nth_repeat in H.
      specialize (HP (nth j p 0) (nth_In _ _ L)). lia.
  - intros H. exists (length p). rewrite app_length. simpl. split; [lia|].
    rewrite !app_nth2, LR, Nat.sub_diag by lia. exact H.
Qed.

Lemma count_if_ext {A} (f h : A -> bool) xs : (forall x, In x xs -> f x = h x) ->
  count_if f xs = count_if h xs.
Proof.
  unfold count_if. induction xs; simpl; intros H; auto.
  rewrite H by auto. destruct (h a); simpl; auto.
Qed.

Lemma count_if_all {A} (f : A -> bool) xs : (forall x, In x xs -> f x = true) ->
  count_if f xs = length xs.
Proof.
  unfold count_if. induction xs; simpl; intros H; auto. rewrite H by auto. simpl. auto.
Qed.

Lemma count_if_app {A} (f : A -> bool) xs ys : count_if f (xs ++ ys)
    = count_if f xs + count_if f ys.
Proof. unfold count_if. now rewrite filter_app, app_length. Qed.

Lemma count_if_split {A} (f h u : A -> bool) xs :
  (forall x, In x xs -> u x = f x || h x /\ f x && h x = false) ->
  count_if u xs = count_if f xs + count_if h xs.
Proof.
  unfold count_if. induction xs; simpl; intros H; auto.
  destruct (H a (or_introl eq_refl)) as [E1 E2]. specialize (IHxs (fun x Hx => H x (or_intror Hx))).
  rewrite E1. destruct (f a), (h a); simpl in *; try discriminate; lia.
Qed.
