(* FastTables.v -- the tables of a certificate as search trees

   Purpose   Certificate.v looks things up in lists; here the same tables answer quickly.
   Paper     -
   C++       what runs in tally-certify
   Trusted   nothing: they are proved to give the same answers *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics Maps Expr Invariant Certificate.

(** * Tables as maps *)

Definition map_of {B} (x : table B) : tree B :=
  fold_right (fun p t => set (fst p) (snd p) t) Leaf x.

Lemma get_map_of {B} (x : table B) n : get (map_of x) n = lookup n x.
Proof.
  induction x as [|[k b] x IH]; auto. cbn [map_of fold_right fst snd].
  fold (map_of x). rewrite get_set. unfold lookup in *. cbn [find fst].
  rewrite (Nat.eqb_sym n k). destruct (k =? n); auto.
Qed.

Lemma lookup_map {B C} (f : B -> C) n (x : table B) :
  lookup n (List.map (fun p => (fst p, f (snd p))) x) = option_map f (lookup n x).
Proof.
  unfold lookup. induction x as [|[k b] x IH]; auto. simpl. destruct (k =? n); auto.
Qed.

Lemma get_or_map_of {B} (d : B) x n : get_or d (map_of x) n = lookup_or d n x.
Proof. unfold get_or, lookup_or. now rewrite get_map_of. Qed.

(** * Tables that answer quickly *)

(* The instructions of each engine, directly in the code. *)
Definition directs (n : nat) (b : code instr) : list (list instr) :=
  List.map (fun e => direct e b) (seq 0 n).

Lemma nth_directs n b e : e < n -> nth e (directs n b) [] = direct e b.
Proof.
  intros H. unfold directs.
  rewrite (nth_indep _ [] (direct 0 b)) by now rewrite map_length, seq_length.
  rewrite (map_nth (fun e => direct e b)). now rewrite seq_nth.
Qed.

Definition body_entry (n : nat) (x : list loopid * code instr) : list loopid * list (list instr) :=
  (fst x, directs n (snd x)).

Definition fast_tables (c : cert) : tables :=
  let n := c_engines c in
  let bs := map_of (List.map (fun p => (fst p, body_entry n (snd p))) (all_bodies (c_spec c))) in
  let ps := map_of (places n (c_spec c)) in
  let qs := map_of (c_queues c) in
  let ws := map_of (c_weights c) in
  let ds := map_of (c_deps c) in
  {| home i := fst (get_or (ROOT, 0) ps i);
     eng i := snd (get_or (ROOT, 0) ps i);
     que i := get_or 0 qs i;
     weight q := get_or 1 ws q;
     path l := fst (get_or ([], []) bs l);
     body l e := if e <? n then nth e (snd (get_or ([], []) bs l)) [] else [];
     deps i := get_or [] ds i |}.

Record same_tables (F T : tables) : Prop := {
  s_home : forall i, home F i = home T i;
  s_eng : forall i, eng F i = eng T i;
  s_que : forall i, que F i = que T i;
  s_weight : forall q, weight F q = weight T q;
  s_path : forall l, path F l = path T l;
  s_body : forall l e, body F l e = body T l e;
  s_deps : forall i, deps F i = deps T i }.

Lemma fast_tables_same c : same_tables (fast_tables c) (tables_of c).
Proof.
  split; intros; unfold fast_tables, tables_of; cbv zeta;
    cbn [home eng que weight path body deps]; rewrite ?get_or_map_of; auto.
  - unfold lookup_or. rewrite lookup_map.
    destruct (lookup l (all_bodies (c_spec c))) as [[p b]|]; auto.
  - destruct (Nat.ltb_spec e (c_engines c)); auto.
    unfold lookup_or. rewrite lookup_map.
    destruct (lookup l (all_bodies (c_spec c))) as [[p b]|]; cbn [option_map snd body_entry].
    + now apply nth_directs.
    + now destruct e.
Qed.

Lemma forallb_same {A} (f h : A -> bool) xs : (forall x, f x = h x) -> forallb f xs = forallb h xs.
Proof. intros E. induction xs; simpl; auto. now rewrite E, IHxs. Qed.

Lemma existsb_same {A} (f h : A -> bool) xs : (forall x, f x = h x) -> existsb f xs = existsb h xs.
Proof. intros E. induction xs; simpl; auto. now rewrite E, IHxs. Qed.
