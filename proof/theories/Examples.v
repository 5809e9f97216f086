(* Examples.v -- accepted and rejected kernels

   Purpose   The theorems are not empty: here are certificates that are accepted, and next to each
             the mistakes that are not. Everything is computed by the checker itself.
   Paper     the examples of sections 3-5, and docs/Proof.md for the cases that it gets wrong
   C++       -
   Trusted   nothing *)

From Coq Require Import List Arith Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics Expr Checker Bisimulation Legality Certificate.

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
Definition cert_of (body : loopid) (roles : facts) (ds : list dep) (c : code item) : cert := {|
  c_engines := 2;
  c_spec := ecode instr_of c;
  c_code := c;
  c_deps := [(Cons, ds)];
  c_queues := [(P, 0); (Q, 0); (Cons, 1)];
  c_weights := [];
  c_signals := [(P, 7); (Q, 7)];
  c_sites := [(7, mksite body 0 0)];
  c_roles := [[]; roles];
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

Example flat_unmasked_rejected : certify (flat 1 false) = false.
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
