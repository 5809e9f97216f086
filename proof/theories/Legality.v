(* Legality.v -- which dependence graphs make sense, as a boolean

   Purpose   The bisimulation compares code with a dependence graph, whatever the graph says; a
             graph that deadlocks is realised by code that deadlocks. [legal] refuses graphs that
             ask for runs still to come: distance 0 against program order or in a circle, distances
             on conditional branches, ends that do not lie where the distance needs them.
   Paper     the side conditions of section 4.2, corrected (docs/internals/Proof.md)
   C++       lib/Model/Check.cpp, lib/Model/OrderCycles.cpp
   Trusted   nothing: DeadlockFree.v proves what legality is for

   Program order and the acyclicity of distance 0 are both shown by a rank for each instruction:
   ranks grow along each engine's program order, from block to block over all engines, and along
   each dependence at distance 0. The certificate brings the ranks; they are only checked here. *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics Decode Expr Checker Invariant.

Section Ranks.
  Variable rank : instr -> nat.

  (* The stream's ranks grow, starting at lo or above. *)
  Fixpoint stream_ranked (lo : nat) (xs : list instr) : bool :=
    match xs with
    | [] => true
    | x :: t => (lo <=? rank x) && stream_ranked (S (rank x)) t
    end.

  (* Above all ranks of the block. *)
  Definition block_end (lo : nat) (f : list (list instr)) : nat :=
    fold_left (fun n xs => fold_left (fun n x => Nat.max n (S (rank x))) xs n) f lo.

  (* From lo on, the code is ranked up to the number returned. *)
  Fixpoint ranked (lo : nat) (c : code instr) : option nat :=
    match c with
    | CNil => Some lo
    | CBlock f r => if forallb (stream_ranked lo) f then ranked (block_end lo f) r else None
    | CLoop _ b r => match ranked lo b with Some m => ranked m r | None => None end
    | CCond _ _ bt bf r =>
        match ranked lo bt with
        | Some m => match ranked m bf with Some m' => ranked m' r | None => None end
        | None => None
        end
    end.
End Ranks.

Section Legal.
  Variable T : tables.
  Variable rank : instr -> nat.
  Variable branch : loopid -> bool.            (* is a branch of a conditional *)
  Variable opposite : loopid -> loopid -> bool. (* are the two branches of one conditional *)

  (* The innermost body around both. *)
  Definition common (a b : loopid) : loopid :=
    match find (fun l => inb l (path T b)) (path T a) with Some l => l | None => ROOT end.

  Definition in_opposite_branches (a b : loopid) : bool :=
    existsb (fun x => existsb (opposite x) (path T b)) (path T a).

  Definition before (i j : instr) : bool := rank i <? rank j.

  (* Distance 0: the producer's statement comes before the consumer's in the innermost body around
     both, or the two are in opposite branches there, so that no run of the producer is ever owed
     from the current iteration. *)
  Definition zero_legal (p j : instr) (s : loopid) : bool :=
    let hp := home T p in
    let hj := home T j in
    (s =? common hj hp) &&
    (before p j || negb (inb hp (path T hj)) && in_opposite_branches hj hp).

  (* A distance within the producer's own loop must look back. *)
  Definition distance_legal (p j : instr) (x : distance) : bool :=
    let hp := home T p in
    let hj := home T j in
    match x with
    | Carried s k =>
        inb s (path T hj) && inb s (path T hp) &&
        (if k =? 0 then zero_legal p j s else negb (branch s))
    | Flat f => (hp =? hj) && (if f =? 0 then before p j else true)
    | Element s k b back ahead =>
        inb s (path T hj) && inb s (path T hp) && negb (hp =? s) &&
        inb b (path T hj) && inb s (path T b) && negb (b =? s) && negb (branch b) &&
        (if k =? 0
         then if inb hp (path T hj) then (b =? hp) && (ahead <? back)
              else (s =? common hj hp) && before p j
         else negb (branch s))
    end.

  Definition is_placed (i : instr) : bool := inb i (body T (home T i) (eng T i)).

  Definition deps_legal (j : instr) : bool :=
    forallb (fun d => is_placed (prd d) && distance_legal (prd d) j (dist d)) (deps T j).
End Legal.

(** * What the booleans say *)

Section RanksSpec.
  Variable rank : instr -> nat.

  Lemma stream_ranked_above lo xs i : stream_ranked rank lo xs = true -> In i xs -> lo <= rank i.
  Proof.
    revert lo. induction xs as [|x xs IH]; simpl; intros lo H Hi; [contradiction|].
    apply andb_true_iff in H as [H1 H2]. apply Nat.leb_le in H1.
    destruct Hi as [->|Hi]; auto. apply IH in H2; auto. lia.
  Qed.

  (* The head has the least rank of what is left of its stream. *)
  Lemma stream_ranked_head lo x xs i :
    stream_ranked rank lo (x :: xs) = true -> In i xs -> rank x < rank i.
  Proof.
    simpl. intros H Hi. apply andb_true_iff in H as [_ H].
    apply (stream_ranked_above _ _ _ H) in Hi. lia.
  Qed.

  Lemma max_ranks_ge xs : forall n,
    n <= fold_left (fun n x => Nat.max n (S (rank x))) xs n.
  Proof. induction xs; simpl; intros; auto. eapply Nat.le_trans; [|apply IHxs]. lia. Qed.

  Lemma max_ranks_above xs i : In i xs -> forall n,
    rank i < fold_left (fun n x => Nat.max n (S (rank x))) xs n.
  Proof.
    induction xs; simpl; intros H n; [contradiction|]. destruct H as [->|H]; auto.
    eapply Nat.lt_le_trans; [|apply max_ranks_ge]. lia.
  Qed.

  Lemma block_end_ge f : forall lo, lo <= block_end rank lo f.
  Proof.
    unfold block_end. induction f; simpl; intros; auto.
    eapply Nat.le_trans; [|apply IHf]. apply max_ranks_ge.
  Qed.

  Lemma block_end_above f xs i : In xs f -> In i xs -> forall lo, rank i < block_end rank lo f.
  Proof.
    unfold block_end. induction f; simpl; intros H Hi lo; [contradiction|].
    destruct H as [->|H]; [|apply IHf; auto].
    eapply Nat.lt_le_trans; [apply max_ranks_above; eauto|]. apply block_end_ge.
  Qed.

  Lemma ranked_monotone c : forall lo hi, ranked rank lo c = Some hi -> lo <= hi.
  Proof.
    induction c; simpl; intros lo hi H.
    - inversion H; auto.
    - destruct (forallb _ _); [|discriminate]. apply IHc in H.
      pose proof (block_end_ge f lo). lia.
    - destruct (ranked rank lo c1) eqn:E; [|discriminate]. apply IHc1 in E. apply IHc2 in H. lia.
    - destruct (ranked rank lo c1) eqn:E1; [|discriminate].
      destruct (ranked rank n c2) eqn:E2; [|discriminate].
      apply IHc1 in E1. apply IHc2 in E2. apply IHc3 in H. lia.
  Qed.

  Lemma ranked_direct e c : forall lo hi i,
    ranked rank lo c = Some hi -> In i (direct e c) -> lo <= rank i < hi.
  Proof.
    induction c; simpl; intros lo hi i H Hi.
    - contradiction.
    - destruct (forallb _ _) eqn:F; [|discriminate]. pose proof (ranked_monotone _ _ _ H).
      apply in_app_or in Hi as [Hi|Hi].
      + destruct (nth_in_or_default e f []) as [X|X]; [|rewrite X in Hi; contradiction].
        rewrite forallb_forall in F. split.
        * eapply stream_ranked_above; eauto.
        * pose proof (block_end_above f _ i X Hi lo). lia.
      + pose proof (block_end_ge f lo). specialize (IHc _ _ _ H Hi). lia.
    - destruct (ranked rank lo c1) eqn:E; [|discriminate]. apply ranked_monotone in E.
      specialize (IHc2 _ _ _ H Hi). lia.
    - destruct (ranked rank lo c1) eqn:E1; [|discriminate].
      destruct (ranked rank n c2) eqn:E2; [|discriminate].
      apply ranked_monotone in E1. apply ranked_monotone in E2.
      specialize (IHc3 _ _ _ H Hi). lia.
  Qed.
End RanksSpec.

(** * Bodies numbered in textual order *)

Fixpoint loops_of (c : code instr) : list loopid :=
  match c with
  | CNil => []
  | CBlock _ r => loops_of r
  | CLoop l b r => l :: loops_of b ++ loops_of r
  | CCond t f bt bf r => t :: loops_of bt ++ f :: loops_of bf ++ loops_of r
  end.

(* All ids are lo or more and grow; the result is above all of them. *)
Fixpoint numbered (lo : nat) (c : code instr) : option nat :=
  match c with
  | CNil => Some lo
  | CBlock _ r => numbered lo r
  | CLoop l b r =>
      if lo <=? l
      then match numbered (S l) b with Some m => numbered m r | None => None end
      else None
  | CCond t f bt bf r =>
      if lo <=? t then
        match numbered (S t) bt with
        | Some m =>
            if m <=? f
            then match numbered (S f) bf with Some m' => numbered m' r | None => None end
            else None
        | None => None
        end
      else None
  end.

Ltac numbered_cases H :=
  repeat match type of H with
  | (if ?a <=? ?b then _ else _) = _ => destruct (Nat.leb_spec a b); [|discriminate]
  | match numbered ?a ?b with _ => _ end = _ =>
      let E := fresh "E" in destruct (numbered a b) eqn:E; [|discriminate]
  end.

Lemma numbered_monotone c : forall lo hi, numbered lo c = Some hi -> lo <= hi.
Proof.
  induction c; cbn [numbered]; intros lo hi H; numbered_cases H.
  - inversion H; auto.
  - auto.
  - apply IHc1 in E. apply IHc2 in H. lia.
  - apply IHc1 in E. apply IHc2 in E0. apply IHc3 in H. lia.
Qed.

Lemma numbered_loops c : forall lo hi x, numbered lo c = Some hi -> In x (loops_of c) -> lo
    <= x < hi.
Proof.
  induction c; cbn [numbered loops_of]; intros lo hi x H Hx; numbered_cases H.
  - contradiction.
  - eauto.
  - pose proof (numbered_monotone _ _ _ E). pose proof (numbered_monotone _ _ _ H).
    destruct Hx as [<-|Hx]; [lia|]. apply in_app_or in Hx as [Hx|Hx].
    + specialize (IHc1 _ _ _ E Hx). lia.
    + specialize (IHc2 _ _ _ H Hx). lia.
  - pose proof (numbered_monotone _ _ _ E). pose proof (numbered_monotone _ _ _ E0).
    pose proof (numbered_monotone _ _ _ H).
    destruct Hx as [<-|Hx]; [lia|]. apply in_app_or in Hx as [Hx|Hx].
    + specialize (IHc1 _ _ _ E Hx). lia.
    + destruct Hx as [<-|Hx]; [lia|]. apply in_app_or in Hx as [Hx|Hx].
      * specialize (IHc2 _ _ _ E0 Hx). lia.
      * specialize (IHc3 _ _ _ H Hx). lia.
Qed.
