(* Maps.v -- maps from numbers, as search trees

   Purpose   Lists of pairs are what proofs speak about; what is looked up often is kept in a tree
             by the digits of the key. Each operation is proved to be the one on lists.
   Paper     -
   C++       -
   Trusted   nothing *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.

Section Map.
  Variable B : Type.

  Inductive tree := Leaf | Node (here : option B) (evens odds : tree).

  Fixpoint get (t : tree) (n : nat) : option B :=
    match t with
    | Leaf => None
    | Node here evens odds =>
        match n with
        | 0 => here
        | S m => if m mod 2 =? 0 then get evens (m / 2) else get odds (m / 2)
        end
    end.

  Definition here_of t := match t with Leaf => None | Node v _ _ => v end.
  Definition evens_of t := match t with Leaf => Leaf | Node _ l _ => l end.
  Definition odds_of t := match t with Leaf => Leaf | Node _ _ r => r end.

  (* The key halves with each level, so that it will do as fuel. *)
  Fixpoint set_fuel (fuel n : nat) (b : B) (t : tree) : tree :=
    match n with
    | 0 => Node (Some b) (evens_of t) (odds_of t)
    | S m =>
        match fuel with
        | 0 => t
        | S fuel =>
            if m mod 2 =? 0 then Node (here_of t) (set_fuel fuel (m / 2) b (evens_of t)) (odds_of t)
            else Node (here_of t) (evens_of t) (set_fuel fuel (m / 2) b (odds_of t))
        end
    end.

  Lemma get_node t n : get t n = get (Node (here_of t) (evens_of t) (odds_of t)) n.
  Proof. destruct t; auto. simpl. destruct n; auto. now destruct (_ =? _). Qed.

  Lemma same_digits k m : k mod 2 = m mod 2 -> (k / 2 =? m / 2) = (k =? m).
  Proof.
    intros E. pose proof (Nat.div_mod_eq k 2). pose proof (Nat.div_mod_eq m 2).
    destruct (Nat.eqb_spec (k / 2) (m / 2)), (Nat.eqb_spec k m); auto; lia.
  Qed.

  Lemma get_set_fuel fuel : forall n b t k, n <= fuel ->
    get (set_fuel fuel n b t) k = if k =? n then Some b else get t k.
  Proof.
    assert (Z : forall b t k, get (Node (Some b) (evens_of t) (odds_of t)) k =
                              if k =? 0 then Some b else get t k).
    { intros b t k. rewrite (get_node t k). destruct k; reflexivity. }
    induction fuel; intros n b t k H; destruct n as [|m]; try lia; cbn [set_fuel]; auto.
    assert (L : m / 2 <= fuel) by (pose proof (Nat.div_mod_eq m 2); lia).
    rewrite (get_node t k).
    destruct (Nat.eqb_spec (m mod 2) 0) as [E|E]; destruct k as [|k]; auto; cbn [get];
      change (S k =? S m) with (k =? m); destruct (Nat.eqb_spec (k mod 2) 0) as [F|F].
    - rewrite IHfuel by auto. now rewrite same_digits by lia.
    - destruct (Nat.eqb_spec k m) as [->|]; [congruence|reflexivity].
    - destruct (Nat.eqb_spec k m) as [->|]; [congruence|reflexivity].
    - rewrite IHfuel by auto. rewrite same_digits; auto.
      pose proof (Nat.mod_upper_bound k 2). pose proof (Nat.mod_upper_bound m 2). lia.
  Qed.

  Definition set (n : nat) (b : B) (t : tree) : tree := set_fuel n n b t.

  Lemma get_set n b t k : get (set n b t) k = if k =? n then Some b else get t k.
  Proof. apply get_set_fuel. auto. Qed.

  Definition get_or (d : B) (t : tree) (n : nat) : B :=
    match get t n with Some b => b | None => d end.
End Map.

Arguments Leaf {B}.
Arguments get {B}.
Arguments set {B}.
Arguments get_or {B}.

(** * All that a list of pairs has for a key *)

Section Index.
  Variable B : Type.

  Definition index (x : list (nat * B)) : tree (list B) :=
    fold_right (fun p t => set (fst p) (snd p :: get_or [] t (fst p)) t) Leaf x.

  Lemma index_exists (f : B -> bool) x n : existsb f (get_or [] (index x) n) =
    existsb (fun p => (n =? fst p) && f (snd p)) x.
  Proof.
    induction x as [|[k b] x IH]; auto. cbn [index fold_right existsb fst snd]. fold (index x).
    unfold get_or at 1. rewrite get_set. destruct (Nat.eqb_spec n k) as [->|].
    - cbn [existsb andb]. now rewrite IH.
    - cbn [andb]. exact IH.
  Qed.
End Index.
Arguments index {B}.

(** * Numbers without repetition *)

Fixpoint without_twins (seen : tree unit) (xs : list nat) : list nat :=
  match xs with
  | [] => []
  | x :: t => match get seen x with
              | Some _ => without_twins seen t
              | None => x :: without_twins (set x tt seen) t
              end
  end.

Lemma without_twins_In xs x : In x (without_twins Leaf xs) <-> In x xs.
Proof.
  enough (G : forall xs seen,
    In x (without_twins seen xs) <-> In x xs /\ get seen x = None) by (rewrite G; now split).
  clear xs. induction xs as [|y xs IH]; intros seen; cbn [without_twins In]; [tauto|].
  destruct (get seen y) as [[]|] eqn:E; cbn [In]; rewrite IH, ?get_set;
    destruct (Nat.eqb_spec x y) as [->|]; rewrite ?E; intuition congruence.
Qed.
