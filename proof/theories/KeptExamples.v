(* KeptExamples.v -- thresholds that registers keep from one iteration to the next

   Purpose   What a compiler gains by not computing thresholds anew: they are stepped by loops, are
             counters that are there anyway, or come from snapshots taken late. Each is accepted,
             and its near misses are not.
   Paper     - (its code computes every threshold before every wait)
   C++       lib/Code; lib/Kernels/Manual.cpp writes such code by hand
   Trusted   nothing *)

From Coq Require Import List Arith.
Import ListNotations.
From Tally Require Import Syntax Semantics Expr Checker Certificate Fits Examples.

(* A move of a number that says what the register counts, beside that: see [also] in Checker.v. *)
Definition start r n z := RegOp (mkop r AMove (OImm n) (OReg z)).

(** * A { P Q || C }: the threshold of P is 2*r - 1; it starts with 1 and A steps it by 2 *)

Definition stepped (first step : nat) : cert :=
  cert_of A [(9, EC 0); (9, EBin AMul (EC 2) (ETot A))] [mkdep P (Carried A 0)]
    (CBlock [[]; [start 0 first 9]]
    (CLoop A
      (CBlock [[plain P; plain Q];
        [Issue Cons (Some (7, OReg 0)); op 0 AAdd (OReg 0) (OImm step)]] CNil) CNil)).

Example stepped_accepted : certify (stepped 1 2) = true.
Proof. vm_compute. reflexivity. Qed.

Example stepped_fits : code_fits 256 ten (stepped 1 2) = true.
Proof. vm_compute. reflexivity. Qed.

Example stepped_from_too_far_rejected : certify (stepped 2 2) = false.
Proof. vm_compute. reflexivity. Qed.

Example stepped_from_too_near_rejected : certify (stepped 0 2) = false.
Proof. vm_compute. reflexivity. Qed.

Example stepped_too_little_rejected : certify (stepped 1 1) = false.
Proof. vm_compute. reflexivity. Qed.

Example stepped_too_much_rejected : certify (stepped 1 3) = false.
Proof. vm_compute. reflexivity. Qed.

(** * Q, two iterations of A ago: 2*(r - 2), which begins to step with the second iteration *)

Definition stepped_later (gate step : nat) : cert :=
  cert_of A [(9, EC 0); (9, EBin ASub (EBin AMul (EC 2) (ETot A)) (EC 2)); (6, EC 0); (6, ETot A)]
    [mkdep Q (Carried A 2)]
    (CBlock [[]; [start 0 0 9; start 1 0 6]]
    (CLoop A
      (CBlock [[plain P; plain Q];
        [inc 1; Issue Cons (Some (7, OReg 0)); op 2 AGt (OReg 1) (OImm gate);
         op 2 AMul (OReg 2) (OImm step); op 0 AAdd (OReg 0) (OReg 2)]] CNil) CNil)).

Example stepped_later_accepted : certify (stepped_later 1 2) = true.
Proof. vm_compute. reflexivity. Qed.

(* No difference is computed, so nothing can go below zero. *)
Example stepped_later_fits : code_fits 256 ten (stepped_later 1 2) = true.
Proof. vm_compute. reflexivity. Qed.

Example stepped_too_soon_rejected : certify (stepped_later 0 2) = false.
Proof. vm_compute. reflexivity. Qed.

Example stepped_too_late_rejected : certify (stepped_later 2 2) = false.
Proof. vm_compute. reflexivity. Qed.

Example stepped_later_too_little_rejected : certify (stepped_later 1 1) = false.
Proof. vm_compute. reflexivity. Qed.

(** * B { A { P Q || C } }: what A steps over the whole run has no mask of one trip *)

Definition stepped_inside : cert :=
  cert_of A [(9, EC 0); (9, EBin ASub (EBin AMul (EC 2) (ETot A)) (EC 2)); (6, EC 0); (6, ETot A)]
    [mkdep Q (Carried A 2)]
    (CBlock [[]; [start 0 0 9; start 1 0 6]]
    (CLoop B (CLoop A
      (CBlock [[plain P; plain Q];
        [inc 1; Issue Cons (Some (7, OReg 0)); op 2 AGt (OReg 1) (OImm 1);
         op 2 AMul (OReg 2) (OImm 2); op 0 AAdd (OReg 0) (OReg 2)]] CNil) CNil) CNil)).

Example stepped_inside_rejected : certify stepped_inside = false.
Proof. vm_compute. reflexivity. Qed.

(** * A { P || C }: a counter that is there anyway is the threshold *)

(* The machine's loop counter is a register c that the loop keeps: c := c + 1; r := c. *)
Definition native (back : nat) : cert :=
  with_signals
    (cert_of A [(9, EC 0); (9, ETot A)] [mkdep P (Carried A back)]
      (CBlock [[]; [start 5 0 9]]
      (CLoop A
        (CBlock [[plain P; plain Q]; [inc 5; copy 0 5; Issue Cons (Some (7, OReg 0))]] CNil) CNil)))
    [(P, 7)].

Example native_accepted : certify (native 0) = true.
Proof. vm_compute. reflexivity. Qed.

Example native_one_back_rejected : certify (native 1) = false.
Proof. vm_compute. reflexivity. Qed.

(** * A { C; B { P Q } }: snapshots taken after C, just before the loop of their counter *)

(* They are one iteration older where C reads them, so that one is saved. *)
Definition late (k slot : nat) : cert :=
  with_ranks
    (cert_of B [(1, ETot A); (3, ETot B); (5, EHist A 1 B); (6, EHist A 2 B); (7, EHist A 3 B)]
      [mkdep P (Carried A k)]
      (CBlock [[]; [set 2 0]]
      (CLoop A
        (CBlock [[]; [inc 1; inc 2] ++ wait_for k slot ++ [Issue Cons (Some (7, OReg 0))] ++ ring]
        (CLoop B (CBlock [[plain P; plain Q]; [inc 3]] CNil) CNil)) CNil)))
    [(P, 5); (Q, 6); (Cons, 1)].

Example late_2_accepted : certify (late 2 5) = true.
Proof. vm_compute. reflexivity. Qed.

Example late_3_accepted : certify (late 3 6) = true.
Proof. vm_compute. reflexivity. Qed.

Example late_as_if_early_rejected : certify (late 2 6) = false.
Proof. vm_compute. reflexivity. Qed.

Example late_live_count_rejected : certify (late 2 3) = false.
Proof. vm_compute. reflexivity. Qed.

(* A snapshot taken after the loop holds what was counted in this iteration. *)
Definition too_late : cert :=
  with_ranks
    (cert_of B [(1, ETot A); (3, ETot B); (5, EHist A 1 B)] [mkdep P (Carried A 2)]
      (CBlock [[]; [set 2 0]]
      (CLoop A
        (CBlock [[]; [inc 1; inc 2] ++ wait_for 2 5 ++ [Issue Cons (Some (7, OReg 0))]]
        (CLoop B (CBlock [[plain P; plain Q]; [inc 3]] CNil)
        (CBlock [[]; [copy 5 3]] CNil))) CNil)))
    [(P, 5); (Q, 6); (Cons, 1)].

Example too_late_rejected : certify too_late = false.
Proof. vm_compute. reflexivity. Qed.
