(* Examples.v -- accepted and rejected kernels

   Purpose   The theorems are not empty: here are certificates that are accepted, and next to each
             the mistakes that are not. Everything is computed by the checker itself.
   Paper     the examples of sections 3-5; for the cases that it gets wrong, see
             docs/internals/Proof.md
   C++       -
   Trusted   nothing *)

From Coq Require Import List Arith Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics Expr Checker Bisimulation Legality Certificate.
From Tally Require Import Vectors Words Fits Skip Statement Main.

(** * Shorthands *)

Definition inc r := RegOp (mkop r AAdd (OReg r) (OImm 1)).
Definition set r n := RegOp (mkop r AMove (OImm n) (OImm 0)).
Definition copy r s := RegOp (mkop r AMove (OReg s) (OImm 0)).
Definition op r o a b := RegOp (mkop r o a b).
Definition plain i := Issue i None.

(* Loop A is 1, loop B is 2. Producers P = 20 and Q = 21 are on engine 0, the consumer C = 10 on
   engine 1. Queue e belongs to engine e. *)
Definition A := 1.
Definition B := 2.
Definition P := 20.
Definition Q := 21.
Definition Cons := 10.

(* Semaphore 7 is raised by P and Q, so N = 2; P is the first of them. *)
Definition cert_of (body : loopid) (counts : roles) (ds : list dep) (c : code item) : cert := {|
  c_engines := 2;
  c_spec := ecode instr_of c;
  c_code := c;
  c_deps := [(Cons, ds)];
  c_queues := [(P, 0); (Q, 0); (Cons, 1)];
  c_weights := [];
  c_signals := [(P, 7); (Q, 7)];
  c_sites := [(7, mksite body 0 0)];
  c_roles := [[]; counts];
  c_ranks := [(P, 1); (Q, 2); (Cons, 3)] |}.

Definition with_ranks (c : cert) (r : table nat) : cert :=
  mkcert (c_engines c) (c_spec c) (c_code c) (c_deps c) (c_queues c) (c_weights c) (c_signals c)
         (c_sites c) (c_roles c) r.

Definition with_weights (c : cert) (w : table nat) : cert :=
  mkcert (c_engines c) (c_spec c) (c_code c) (c_deps c) (c_queues c) w (c_signals c)
         (c_sites c) (c_roles c) (c_ranks c).

Definition with_queues (c : cert) (q : table queue) : cert :=
  mkcert (c_engines c) (c_spec c) (c_code c) (c_deps c) q (c_weights c) (c_signals c)
         (c_sites c) (c_roles c) (c_ranks c).

Definition with_signals (c : cert) (s : table sema) : cert :=
  mkcert (c_engines c) (c_spec c) (c_code c) (c_deps c) (c_queues c) (c_weights c) s
         (c_sites c) (c_roles c) (c_ranks c).

(** * Straight-line code: wait for the K-th retirement *)

Definition straight (n : nat) : cert :=
  cert_of ROOT [] [mkdep P (Carried ROOT 0)]
    (CBlock [[plain P; plain Q]; [Issue Cons (Some (7, OImm n))]] CNil).

Example straight_accepted : certify (straight 1) = true.
Proof. vm_compute. reflexivity. Qed.

Example straight_late_rejected : certify (straight 2) = false.
Proof. vm_compute. reflexivity. Qed.

Example straight_early_rejected : certify (straight 0) = false.
Proof. vm_compute. reflexivity. Qed.

(* A queue that adds 16 for each retirement. *)
Example weight_accepted : certify (with_weights (straight 16) [(0, 16)]) = true.
Proof. vm_compute. reflexivity. Qed.

Example weight_forgotten_rejected : certify (with_weights (straight 1) [(0, 16)]) = false.
Proof. vm_compute. reflexivity. Qed.

(* P and Q on different queues of engine 0 may retire in any order: no common semaphore. *)
Example two_queues_rejected :
  certify (with_queues (straight 1) [(P, 0); (Q, 5); (Cons, 1)]) = false.
Proof. vm_compute. reflexivity. Qed.

(** * A { C; B { P Q } }: P nested and after C, k iterations of A ago *)

(* Registers of engine 1: 1 total(A), 2 trip(A), 3 total(B), 5 6 7 snapshots of it. *)
Definition nested (k : nat) (snapshots wait : list item) : cert :=
  with_ranks
    (cert_of B [(1, ETot A); (3, ETot B); (5, EHist A 1 B); (6, EHist A 2 B); (7, EHist A 3 B)]
      [mkdep P (Carried A k)]
      (CBlock [[]; [set 2 0]]
      (CLoop A
        (CBlock [[]; snapshots ++ [inc 1; inc 2] ++ wait ++ [Issue Cons (Some (7, OReg 0))]]
        (CLoop B (CBlock [[plain P; plain Q]; [inc 3]] CNil) CNil)) CNil)))
    [(P, 5); (Q, 6); (Cons, 1)].

Definition ring := [copy 7 6; copy 6 5; copy 5 3].

(* gt(trip(A), k) * (2*r - 1) *)
Definition wait_for (k r : nat) :=
  [op 8 AGt (OReg 2) (OImm k); op 0 AMul (OImm 2) (OReg r); op 0 ASub (OReg 0) (OImm 1);
   op 0 AMul (OReg 8) (OReg 0)].

(* The same, safe on a machine whose subtraction wraps. *)
Definition guarded_wait_for (k r : nat) :=
  [op 8 AGt (OReg 2) (OImm k); op 9 AMul (OImm 2) (OReg r); op 10 AGt (OReg 9) (OImm 1);
   op 9 ASub (OReg 9) (OImm 1); op 9 AMul (OReg 10) (OReg 9); op 0 AMul (OReg 8) (OReg 9)].

Example backward_1_accepted : certify (nested 1 [] (wait_for 1 3)) = true.
Proof. vm_compute. reflexivity. Qed.

Example backward_1_guarded_accepted : certify (nested 1 [] (guarded_wait_for 1 3)) = true.
Proof. vm_compute. reflexivity. Qed.

Example backward_2_live_count_rejected : certify (nested 2 [] (wait_for 2 3)) = false.
Proof. vm_compute. reflexivity. Qed.

Example backward_2_snapshot_accepted : certify (nested 2 ring (wait_for 2 6)) = true.
Proof. vm_compute. reflexivity. Qed.

Example backward_3_snapshot_accepted : certify (nested 3 ring (wait_for 3 7)) = true.
Proof. vm_compute. reflexivity. Qed.

Example wrong_slot_rejected : certify (nested 2 ring (wait_for 2 5)) = false.
Proof. vm_compute. reflexivity. Qed.

Example wrong_mask_rejected : certify (nested 1 [] (wait_for 2 3)) = false.
Proof. vm_compute. reflexivity. Qed.

Example missing_wait_rejected : certify (nested 1 [] [set 0 0]) = false.
Proof. vm_compute. reflexivity. Qed.

(* Backward at distance 0: code and specification agree, but the graph makes no sense. *)
Example backward_0_realised : check (nested 0 [] (wait_for 0 3)) = true.
Proof. vm_compute. reflexivity. Qed.

Example backward_0_illegal : legal (nested 0 [] (wait_for 0 3)) = false.
Proof. vm_compute. reflexivity. Qed.

(** * A { B { P Q || C } }: distance (1,1), a component on both loops *)

(* x = min(q2 + (trip(B) - 1), q1) under both masks. Registers as above, 4 is trip(B). *)
Definition two_level (clamp : bool) : cert :=
  cert_of B [(1, ETot A); (3, ETot B); (5, EHist A 1 B); (6, EHist A 2 B)]
    [mkdep P (Element A 1 B 1 0)]
    (CBlock [[]; [set 2 0]]
    (CLoop A
      (CBlock [[]; [copy 6 5; copy 5 3; inc 1; inc 2; set 4 0]]
      (CLoop B
        (CBlock [[plain P; plain Q];
          [inc 3; inc 4; op 7 ASub (OReg 4) (OImm 1); op 8 AAdd (OReg 6) (OReg 7)] ++
          (if clamp then [op 8 AMin (OReg 8) (OReg 5)] else []) ++
          [op 8 AMul (OImm 2) (OReg 8); op 8 ASub (OReg 8) (OImm 1);
           op 9 AGt (OReg 2) (OImm 1); op 10 AGt (OReg 4) (OImm 1); op 9 AMul (OReg 9) (OReg 10);
           op 0 AMul (OReg 9) (OReg 8); Issue Cons (Some (7, OReg 0))]] CNil) CNil)) CNil)).

Example two_level_accepted : certify (two_level true) = true.
Proof. vm_compute. reflexivity. Qed.

Example two_level_unclamped_rejected : certify (two_level false) = false.
Proof. vm_compute. reflexivity. Qed.

(** * A { B { P Q }; D { C } }: element by element between two loops of one body *)

Definition D := 3.

(* x = min(q1 + (trip(D) - d), total(B)), with gt(trip(D), d) for d > 0 *)
Definition element (d : nat) (clamp : bool) : cert :=
  cert_of B [(3, ETot B); (5, EHist A 1 B)]
    [mkdep P (Element A 0 D d 0)]
    (CBlock [[]; []]
    (CLoop A
      (CBlock [[]; [copy 5 3]]
      (CLoop B (CBlock [[plain P; plain Q]; [inc 3]] CNil)
      (CBlock [[]; [set 4 0]]
      (CLoop D
        (CBlock [[];
          [inc 4; op 8 ASub (OReg 4) (OImm d); op 8 AAdd (OReg 5) (OReg 8)] ++
          (if clamp then [op 8 AMin (OReg 8) (OReg 3)] else []) ++
          [op 8 AMul (OImm 2) (OReg 8); op 8 ASub (OReg 8) (OImm 1);
           op 9 AGt (OReg 4) (OImm d); op 0 AMul (OReg 9) (OReg 8);
           Issue Cons (Some (7, OReg 0))]] CNil) CNil)))) CNil)).

Example element_accepted : certify (element 1 true) = true.
Proof. vm_compute. reflexivity. Qed.

Example element_0_accepted : certify (element 0 true) = true.
Proof. vm_compute. reflexivity. Qed.

Example element_unclamped_rejected : certify (element 1 false) = false.
Proof. vm_compute. reflexivity. Qed.

(** * A { B { C || P Q } }: f runs ago, over the whole run of the program *)

Definition flat (f : nat) (masked : bool) : cert :=
  cert_of B [(3, ETot B)] [mkdep P (Flat f)]
    (CBlock [[]; []]
    (CLoop A
      (CLoop B
        (CBlock [[plain P; plain Q];
          [inc 3; op 8 AMul (OImm 2) (OReg 3); op 8 ASub (OReg 8) (OImm (2 * f + 1))] ++
          (if masked then [op 9 AGt (OReg 3) (OImm f); op 8 AMul (OReg 9) (OReg 8)] else []) ++
          [Issue Cons (Some (7, OReg 8))]] CNil) CNil) CNil)).

Example flat_1_accepted : certify (flat 1 true) = true.
Proof. vm_compute. reflexivity. Qed.

Example flat_0_accepted : certify (flat 0 true) = true.
Proof. vm_compute. reflexivity. Qed.

(* Without its mask, 2*r - 3 is 0 in the first run, too: right over numbers that stop at zero. *)
Example flat_unmasked_accepted : certify (flat 1 false) = true.
Proof. vm_compute. reflexivity. Qed.

(** * A { P Q; B { C } }: two dependences, both thresholds computed outside B *)

Definition hoisted (second : bool) : cert :=
  cert_of A [(1, ETot A)]
    [mkdep P (Carried A 0); mkdep Q (Carried A 1)]
    (CBlock [[]; [set 2 0]]
    (CLoop A
      (CBlock [[plain P; plain Q];
        [inc 1; inc 2; op 7 AMul (OImm 2) (OReg 1); op 7 ASub (OReg 7) (OImm 1);
         op 9 ASub (OReg 1) (OImm 1); op 9 AMul (OImm 2) (OReg 9);
         op 8 AGt (OReg 2) (OImm 1); op 9 AMul (OReg 8) (OReg 9)]]
      (CLoop B
        (CBlock [[]; (if second then [Wait (7, OReg 7)] else []) ++ [Issue Cons (Some (7, OReg 9))]]
        CNil) CNil)) CNil)).

Example hoisted_accepted : certify (hoisted true) = true.
Proof. vm_compute. reflexivity. Qed.

Example one_of_two_waits_rejected : certify (hoisted false) = false.
Proof. vm_compute. reflexivity. Qed.

(** * A { if { P Q } else { C } }: the other branch *)

(* What P did in earlier iterations; none is owed from this one. 2 and 3 are the branches. *)
Definition opposite (k less : nat) : cert :=
  cert_of 2 [(1, ETot A); (3, ETot 2)] [mkdep P (Carried A k)]
    (CBlock [[]; [set 2 0]]
    (CLoop A
      (CBlock [[]; [inc 1; inc 2]]
      (CCond 2 3 (CBlock [[plain P; plain Q]; [inc 3]] CNil)
        (CBlock [[];
          [op 9 AMul (OImm 2) (OReg 3); op 9 ASub (OReg 9) (OImm less);
           op 8 AGt (OReg 2) (OImm k); op 0 AMul (OReg 8) (OReg 9);
           Issue Cons (Some (7, OReg 0))]] CNil) CNil)) CNil)).

Example opposite_0_accepted : certify (opposite 0 1) = true.
Proof. vm_compute. reflexivity. Qed.

Example opposite_1_accepted : certify (opposite 1 1) = true.
Proof. vm_compute. reflexivity. Qed.

Example opposite_late_rejected : certify (opposite 0 0) = false.
Proof. vm_compute. reflexivity. Qed.

(** * Equation 1 on a run: A { B { P || C } }, distance 2 on B *)

(* The published example: B has 3 trips in the first of A, and 4 in the second. *)
Definition carried_tables : tables :=
  tables_of (cert_of B [] [] (CLoop A (CLoop B CNil CNil) CNil)).

Definition at_trip (a b : nat) : kont instr :=
  KLoop B b CNil CNil (KLoop A a CNil CNil KStop).

Definition enter_A (a : nat) (m : counts) := enter_counts (KLoop A a CNil CNil (A
    := instr) KStop) A m.
Definition enter_B (a b : nat) (m : counts) := enter_counts (at_trip a b) B m.

Definition counts_2_4 : counts :=
  enter_B 2 4 (enter_B 2 3 (enter_B 2 2 (enter_B 2 1 (enter_A 2
    (enter_B 1 3 (enter_B 1 2 (enter_B 1 1 (enter_A 1 counts0)))))))).

Example vector_2_4 : iteration carried_tables (at_trip 2 4) B = [1; 2; 4].
Proof. reflexivity. Qed.

(* The root is a component, too. Five runs of the producer come at (2,2) or before. *)
Example runs_up_to_2_2 : asked carried_tables counts_2_4 B (UpToIteration B [1; 2; 2]) = 5.
Proof. reflexivity. Qed.

Example counts_say_the_same : needed (trips (at_trip 2 4)) counts_2_4 B (Carried B 2) = 5.
Proof. reflexivity. Qed.

(* Of the same run: distance (1,1), the target being (1,3). *)
Example runs_up_to_1_3 : asked carried_tables counts_2_4 B (UpToElement A [1; 1] 3) = 3 /\
  asked carried_tables counts_2_4 B (UpToIteration B [1; 1; 3]) = 3 /\
  needed (trips (at_trip 2 4)) counts_2_4 B (Element A 1 B 1 0) = 3.
Proof. repeat split; reflexivity. Qed.

(** * Control, run by a function; and what happens when engines diverge *)

Section Advance.
  Variable C : Type.
  Variables (guard : engine -> loopid -> C -> bool) (ctl : engine -> loopid -> C -> C).
  Variable Ps : code instr.
  Variable c0 : engine -> C.

  Definition place : Type := pos instr * C * counts.

  Definition entering (l : loopid) (p : pos instr) (c : C) (m : counts) : place :=
    (p, c, enter_counts (kon p) l m).

  (* The next step; the end stays where it is. *)
  Definition advance (e : engine) (x : place) : place :=
    let '(p, c, m) := x in
    match p with
    | mkpos (_ :: cu) co k => (mkpos cu co k, c, m)
    | mkpos [] (CBlock f r) k => (mkpos (nth e f []) r k, c, m)
    | mkpos [] (CLoop l b r) k =>
        if guard e l c then entering l (mkpos [] b (KLoop l 1 b r k)) c m
        else (mkpos [] r k, c, m)
    | mkpos [] (CCond t f bt bf r) k =>
        if guard e t c then entering t (mkpos [] bt (KCond t r k)) c m
        else entering f (mkpos [] bf (KCond f r k)) c m
    | mkpos [] CNil (KLoop l n b r k) =>
        if guard e l (ctl e l c) then entering l (mkpos [] b (KLoop l (S n) b r k)) (ctl e l c) m
        else (mkpos [] r k, ctl e l c, m)
    | mkpos [] CNil (KCond l r k) => (mkpos [] r k, ctl e l c, m)
    | mkpos [] CNil KStop => x
    end.

  Definition walks (e : engine) (x : place) : Prop :=
    let '(p, c, m) := x in exists n, walk C guard ctl Ps c0 e n p c m.

  Lemma advance_walks e x : walks e x -> walks e (advance e x).
  Proof.
    destruct x as [[[[|i cu] co k] c] m]; intros [n W]; cbn [advance].
    2:{ exists n. eapply walk_issue; eauto. }
    destruct co as [|f r|l b r|t f bt bf r].
    - destruct k as [|l j b r k|l r k]; [exists n; exact W| |].
      + destruct (guard e l (ctl e l c)) eqn:G; exists (S n).
        * exact (walk_ctl _ _ _ _ _ _ _ _ _ _ _ _ (Some l) W (cs_back _ _ _ _ _ _ _ _ _ G)).
        * exact (walk_ctl _ _ _ _ _ _ _ _ _ _ _ _ None W (cs_exit _ _ _ _ _ _ _ _ _ G)).
      + exists (S n). exact (walk_ctl _ _ _ _ _ _ _ _ _ _ _ _ None W (cs_endif _ _ _ _ _ _ _)).
    - exists (S n). exact (walk_ctl _ _ _ _ _ _ _ _ _ _ _ _ None W (cs_block _ _ _ _ _ _ _)).
    - destruct (guard e l c) eqn:G; exists (S n).
      + exact (walk_ctl _ _ _ _ _ _ _ _ _ _ _ _ (Some l) W (cs_enter _ _ _ _ _ _ _ _ G)).
      + exact (walk_ctl _ _ _ _ _ _ _ _ _ _ _ _ None W (cs_skip _ _ _ _ _ _ _ _ G)).
    - destruct (guard e t c) eqn:G; exists (S n).
      + exact (walk_ctl _ _ _ _ _ _ _ _ _ _ _ _ (Some t) W (cs_then _ _ _ _ _ _ _ _ _ _ G)).
      + exact (walk_ctl _ _ _ _ _ _ _ _ _ _ _ _ (Some f) W (cs_else _ _ _ _ _ _ _ _ _ _ G)).
  Qed.

  Definition after (steps : nat) (e : engine) : place :=
    Nat.iter steps (advance e) (mkpos [] Ps KStop, c0 e, counts0).

  Lemma after_walks steps e : walks e (after steps e).
  Proof.
    induction steps; [exists 0; constructor|]. now apply advance_walks.
  Qed.
End Advance.

(* A { B { P } ; C }, where engine 0 runs B three times and engine 1 runs it once. *)
Definition diverging : code instr :=
  CLoop A (CLoop B (CBlock [[P]; []] CNil) (CBlock [[]; [Cons]] CNil)) CNil.

Definition own_trips (e : engine) (l : loopid) (c : nat) : bool :=
  if l =? A then c =? 0 else c <? (if e =? 0 then 3 else 1).

Definition place_of (steps : nat) (e : engine) : place nat :=
  after nat own_trips (fun _ _ c => S c) diverging (fun _ => 0) steps e.

(* Engine 1 has C next, and has counted one run of P up to now; engine 0 makes three. So C is let go
   after one, and two come too late. *)
Example consumer_asks_for_one :
  let '(p, _, m) := place_of 5 1 in
  cur p = [Cons] /\ asked carried_tables m B (UpToIteration A [1; 1]) = 1.
Proof. vm_compute. auto. Qed.

Example producer_makes_three :
  let '(_, _, m) := place_of 20 0 in asked carried_tables m B (UpToIteration A [1; 1]) = 3.
Proof. vm_compute. reflexivity. Qed.

(** * Numbers that fit into a byte *)

Definition once (l : loopid) : nat := if l =? ROOT then 1 else 0.

(* Straight-line code enters nothing but the root. *)
Lemma straight_entries n (C : Type) guard ctl (c0 : engine -> C) :
  entries_at_most (straight n) C guard ctl c0 once.
Proof.
  intros e k x y m l W.
  enough (K : kon x = KStop /\ (cod x = c_spec (straight n) \/ cod x = CNil) /\ tot m l = once l).
  { destruct K as (_ & _ & ->). auto. }
  induction W as [|k i cu co ko c m W IH|k p c m p' c' ev W IH St]; auto.
  destruct IH as (K1 & K2 & K3). destruct p as [cu co ko]. cbn [cod kon] in *. subst ko.
  destruct K2 as [->| ->]; inversion St; subst. auto.
Qed.

Example straight_fits : forall (St C : Type) iop guard ctl (d0 : St) (c0 : engine -> C),
  fits (straight 1) St C iop guard ctl d0 c0 256.
Proof.
  intros. apply (numbers_of_followed_code_fit (straight 1)) with (B := once).
  - vm_compute. reflexivity.
  - apply straight_entries.
  - vm_compute. reflexivity.
Qed.

(* Ten trips of each loop: guarded, thresholds fit into a byte; else a byte of zero runs wraps. *)
Definition ten (l : loopid) : nat := if l =? ROOT then 1 else 10.

Example guarded_fits : code_fits 256 ten (nested 3 ring (guarded_wait_for 3 7)) = true.
Proof. vm_compute. reflexivity. Qed.

Example unguarded_may_not_fit : code_fits 256 ten (nested 3 ring (wait_for 3 7)) = false.
Proof. vm_compute. reflexivity. Qed.

Example too_large_for_four_bits : code_fits 16 ten (nested 3 ring (guarded_wait_for 3 7)) = false.
Proof. vm_compute. reflexivity. Qed.

(* The producer's loop has been entered where the difference is computed: no guard is needed. *)
Example hoisted_fits : code_fits 256 ten (hoisted true) = true.
Proof. vm_compute. reflexivity. Qed.

(* A guard under a mask on which it depends: in the first iteration r - 2 wraps around, and so do
   the guard and the difference that are made of it. gt(trip(A), m) * (gt(x, 1) * (x - 1)), x =
   2*(r - 2). *)
Definition guard_under_mask (m : nat) : cert :=
  cert_of A [(1, ETot A)] [mkdep P (Carried A 2)]
    (CBlock [[]; [set 2 0]]
    (CLoop A
      (CBlock [[plain P; plain Q];
        [inc 1; inc 2; op 8 AGt (OReg 2) (OImm m); op 9 ASub (OReg 1) (OImm 2);
         op 9 AMul (OImm 2) (OReg 9); op 10 AGt (OReg 9) (OImm 1); op 9 ASub (OReg 9) (OImm 1);
         op 9 AMul (OReg 10) (OReg 9); op 8 AMul (OReg 8) (OReg 9);
         Issue Cons (Some (7, OReg 8))]] CNil) CNil)).

Example guard_under_mask_accepted : certify (guard_under_mask 2) = true.
Proof. vm_compute. reflexivity. Qed.

Example guard_under_mask_fits : code_fits 256 ten (guard_under_mask 2) = true.
Proof. vm_compute. reflexivity. Qed.

(* This mask is open in the first iteration. *)
Example guard_under_open_mask_may_not_fit : code_fits 256 ten (guard_under_mask 0) = false.
Proof. vm_compute. reflexivity. Qed.

(** * Loops left out *)

(* Each loop has a number of trips left; an engine need not count those of loops that it skips. *)
Definition trips_left (e : engine) (l : loopid) (c : loopid -> nat) : bool := 0 <? c l.
Definition count_down (e : engine) (l : loopid) (c : loopid -> nat) : loopid -> nat :=
  upd c l (c l - 1).

Section CountDown.
  Variable skips : engine -> loopid -> bool.

  Definition else_alike (e : engine) (c d : loopid -> nat) : Prop :=
    forall l, skips e l = false -> c l = d l.

  Example count_down_blind : blind trips_left count_down skips else_alike.
  Proof.
    repeat split; unfold else_alike; intros; try congruence.
    - symmetry. auto.
    - rewrite H by auto. auto.
    - unfold trips_left. now rewrite (H0 l H).
    - unfold count_down, upd. destruct (l0 =? l); [now rewrite (H0 l H)|auto].
  Qed.

  (* A loop of its own, with nothing inside, runs out. *)
  Example empty_loop_passed e l r k c : skips e l = true ->
    exists d, passed _ trips_left count_down e (mkpos [] (CLoop l CNil r) k) c (mkpos [] r k) d /\
      else_alike e c d.
  Proof.
    intros Skipped.
    assert (K : forall n c j, c l = S n -> exists d,
      passed _ trips_left count_down e (mkpos [] CNil (KLoop l j CNil r k)) c (mkpos [] r k) d /\
      else_alike e c d).
    { induction n as [|n IH]; intros x j E.
      - exists (count_down e l x). split.
        + eapply passed_step; [|constructor]. apply cs_exit. unfold trips_left, count_down.
          rewrite upd_eq, E. reflexivity.
        + intros y Hy. unfold count_down. rewrite upd_ne; auto. congruence.
      - destruct (IH (count_down e l x) (S j)) as (d & P & A).
        { unfold count_down. rewrite upd_eq, E. reflexivity. }
        exists d. split.
        + eapply passed_step; [|exact P]. apply cs_back. unfold trips_left, count_down.
          rewrite upd_eq, E. reflexivity.
        + intros y Hy. rewrite <- (A y Hy). unfold count_down. rewrite upd_ne; auto. congruence. }
    destruct (c l) as [|n] eqn:E.
    - exists c. split; [|intros y _; reflexivity]. eapply passed_step; [|constructor].
      apply cs_skip. unfold trips_left. now rewrite E.
    - destruct (K n c 1 E) as (d & P & A). exists d. split; auto.
      eapply passed_step; [|exact P]. apply cs_enter. unfold trips_left. now rewrite E.
  Qed.
End CountDown.

(** * The relation of the theorem is inhabited *)

Example matched_from_the_start :
  forall (St C : Type) (d0 : St) (c0 : engine -> C),
    let c := nested 2 ring (wait_for 2 6) in
    match_states St C (tables_of c) (signals_of c) (site_of c)
      (sinit (c_spec c) d0 c0) (iinit (c_code c) d0 c0).
Proof.
  intros St C d0 c0 c.
  assert (K : check c = true) by (vm_compute; reflexivity).
  apply check_sound in K as [W R]. exact (match_initial St C _ _ _ _ _ W R d0 c0).
Qed.
