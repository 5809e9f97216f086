(* FastLegal.v -- whether a kernel is legal, for kernels of real size

   Purpose   [legal] with tables as search trees, and the branches of conditionals in one as well;
             proved to be the same function.
   Paper     -
   C++       what runs in tally-certify
   Trusted   nothing *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics Maps Expr Invariant Legality Certificate FastTables.

(** * Branches *)

(* Of each branch the opposite one. *)
Definition opposites (c : cert) : tree (list loopid) :=
  index (flat_map (fun '(t, f) => [(t, f); (f, t)]) (branches (c_spec c))).

Definition fast_is_branch (O : tree (list loopid)) (l : loopid) : bool :=
  match get_or [] O l with [] => false | _ => true end.

Definition fast_are_opposite (O : tree (list loopid)) (a b : loopid) : bool :=
  existsb (Nat.eqb b) (get_or [] O a).

Lemma fast_is_branch_right c l : fast_is_branch (opposites c) l = is_branch c l.
Proof.
  transitivity (existsb (fun _ => true) (get_or [] (opposites c) l)).
  { unfold fast_is_branch. now destruct (get_or [] (opposites c) l). }
  unfold opposites, is_branch. rewrite index_exists.
  induction (branches (c_spec c)) as [|[t f] xs IH]; auto. cbn [flat_map existsb app fst snd].
  rewrite IH, !andb_true_r. now rewrite orb_assoc.
Qed.

Lemma fast_are_opposite_right c a b : fast_are_opposite (opposites c) a b = are_opposite c a b.
Proof.
  unfold fast_are_opposite, opposites, are_opposite. rewrite index_exists.
  induction (branches (c_spec c)) as [|[t f] xs IH]; auto. cbn [flat_map existsb app fst snd].
  now rewrite IH, orb_assoc.
Qed.

(** * Dependences *)

Section Same.
  Variables F T : tables.
  Hypothesis ST : same_tables F T.

  Ltac same := rewrite ?(s_home _ _ ST), ?(s_eng _ _ ST), ?(s_que _ _ ST), ?(s_weight _ _ ST),
                       ?(s_path _ _ ST), ?(s_body _ _ ST), ?(s_deps _ _ ST).

  Lemma deps_legal_same rank rank' branch branch' opposite opposite' j :
    (forall i, rank' i = rank i) -> (forall l, branch' l = branch l) ->
    (forall a b, opposite' a b = opposite a b) ->
    deps_legal F rank' branch' opposite' j = deps_legal T rank branch opposite j.
  Proof.
    intros R B O'. unfold deps_legal. same. apply forallb_same. intros d. f_equal.
    - unfold is_placed. now same.
    - assert (P : forall i k, before rank' i k = before rank i k).
      { intros. unfold before. now rewrite !R. }
      assert (C : forall a b, common F a b = common T a b).
      { intros. unfold common. now same. }
      assert (O : forall a b, in_opposite_branches F opposite' a b
                             = in_opposite_branches T opposite a b).
      { intros. unfold in_opposite_branches. same. apply existsb_same. intros x.
        apply existsb_same. intros. apply O'. }
      destruct (dist d); cbn [distance_legal]; unfold zero_legal; cbv zeta; same;
        rewrite ?P, ?C, ?O, ?B; reflexivity.
  Qed.
End Same.

(** * The whole kernel *)

Definition fast_legal (c : cert) (F : tables) : bool :=
  let rm := map_of (c_ranks c) in
  let qm := map_of (c_queues c) in
  let rank := fun i => get_or 0 rm i in
  let O := opposites c in
  forallb (fun '(i, _) => match get qm i with Some _ => true | None => false end)
    (places (c_engines c) (c_spec c)) &&
  match ranked rank 0 (c_spec c) with Some _ => true | None => false end &&
  match numbered 1 (c_spec c) with Some _ => true | None => false end &&
  forallb (fun '(j, _) =>
    deps_legal F rank (fast_is_branch O) (fast_are_opposite O) j) (c_deps c).

Lemma ranked_same rank rank' x : (forall i, rank' i = rank i) ->
  forall lo, ranked rank' lo x = ranked rank lo x.
Proof.
  intros R.
  assert (S1 : forall xs lo, stream_ranked rank' lo xs = stream_ranked rank lo xs).
  { induction xs; intros; simpl; auto. now rewrite R, IHxs. }
  assert (S2 : forall xs n, fold_left (fun n x => Nat.max n (S (rank' x))) xs n =
                            fold_left (fun n x => Nat.max n (S (rank x))) xs n).
  { induction xs; intros; simpl; auto. now rewrite R, IHxs. }
  assert (S3 : forall f lo, block_end rank' lo f = block_end rank lo f).
  { unfold block_end. induction f; intros; simpl; auto. now rewrite S2, IHf. }
  induction x; intros lo; cbn [ranked]; auto.
  - rewrite S3, IHx. now rewrite (forallb_same _ (stream_ranked rank lo)) by auto.
  - rewrite IHx1. destruct (ranked rank lo x1); auto.
  - rewrite IHx1. destruct (ranked rank lo x1); auto. rewrite IHx2.
    destruct (ranked rank n x2); auto.
Qed.

Lemma fast_legal_right c : fast_legal c (fast_tables c) = legal c.
Proof.
  unfold fast_legal, legal. cbv zeta.
  rewrite (ranked_same (rank_of c)) by (intros; apply get_or_map_of).
  rewrite (forallb_same _ (fun '(i, _) => has_queue c i))
    by (intros [i p]; unfold has_queue; now rewrite get_map_of).
  f_equal. apply forallb_same. intros [j ds].
  apply (deps_legal_same _ _ (fast_tables_same c)); intros.
  - apply get_or_map_of.
  - apply fast_is_branch_right.
  - apply fast_are_opposite_right.
Qed.
