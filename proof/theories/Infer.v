(* Infer.v -- proposes what holds at the head of each loop

   Purpose   The checker is told what holds at each loop head; this is how that is found. It starts
             from all that holds before each loop and drops what the body does not keep, pass by
             pass over the whole code, until nothing more is dropped. A pass is linear in the code
             and carries the guess for each loop along, so that nesting does not multiply the work.
   Paper     -
   C++       -
   Trusted   nothing: [chk] checks what is proposed

   Of a register that the loop writes, only that it is a counter, or a multiple of one and some more
   or less, can hold at every head. To drop the rest at once is not only quicker: what it is before
   the first iteration (all counters are 0 there) would crowd out, in the first pass, what it always
   is. *)

From Coq Require Import List Arith Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics Maps Expr Known Checker.

Section Infer.
  Variable T : tables.
  Variable e : engine.
  Variable about : tree (list reg).

  (* The registers that the engine writes. *)
  Definition add_written (W : tree unit) (x : item) : tree unit :=
    match x with RegOp o => set (dst o) tt W | _ => W end.

  Fixpoint written (W : tree unit) (c : code item) : tree unit :=
    match c with
    | CNil => W
    | CBlock f r => written (fold_left add_written (nth e f []) W) r
    | CLoop _ b r => written (written W b) r
    | CCond _ _ bt bf r => written (written (written W bt) bf) r
    end.

  Fixpoint is_counter (x : expr) : bool :=
    match x with
    | ETot _ | ETotP _ | EHat _ | EHatP _ | EHist _ _ _ => true
    | EBin (AAdd | ASub) y (EC _) | EBin AMul (EC _) y => is_counter y
    | _ => false
    end.

  Definition may_last (W : tree unit) (r : reg) (x : expr) : bool :=
    match get W r with Some _ => is_counter x | None => true end.

  Definition item_facts (act : list loopid) (A : facts) (x : item) : facts :=
    match x with RegOp o => exec_facts act o A | _ => A end.

  (* What may hold at the head of l, where G is the guess so far, and W is written inside. *)
  Definition candidates (G : guess expr) (W : tree unit) (l : loopid) (A : facts) (r : reg)
    : list expr :=
    let xs := filter (may_last W r) (before_loop l A r) in
    match get G l with
    | Some H => filter (has xs) (get_or [] H r)
    | None => xs
    end.

  (* The facts after the code, and the guess of this pass. *)
  Fixpoint infer_pass (G : guess expr) (act : list loopid) (A : facts) (N : guess expr)
      (c : code item) : facts * guess expr :=
    match c with
    | CNil => (A, N)
    | CBlock f r => infer_pass G act (fold_left (item_facts act) (nth e f []) A) N r
    | CLoop l b r =>
        let rs := touched e about b in
        let ls := inner b in
        let H := get_or [] (tabulate rs (candidates G (written Leaf b) l A)) in
        let '(A', N') :=
          infer_pass G (l :: act) (enter (path T) rs l (loop_head rs l ls H A)) N b in
        let kept := tabulate rs (fun r => filter (has (values A' r)) (H r)) in
        let A0 := loop_head rs l ls (get_or [] kept) A in
        infer_pass G act (leave rs l A0) (set l kept N') r
    | CCond lt lf bt bf r =>
        let rt := touched e about bt in
        let rf := touched e about bf in
        let '(At, N1) := infer_pass G (lt :: act) (enter (path T) rt lt A) N bt in
        let '(Af, N2) := infer_pass G (lf :: act) (enter (path T) rf lf A) N1 bf in
        infer_pass G act (joined (rt ++ rf) lt lf (inner bt ++ inner bf) A At Af) N2 r
    end.

  (* Enough passes for what kernels do; too few can only lead to a rejection. *)
  Fixpoint infer_upto (n : nat) (A : facts) (c : code item) (G : guess expr) : guess expr :=
    match n with
    | 0 => G
    | S n => let G' := snd (infer_pass G [ROOT] A Leaf c) in
             if guess_size G' =? guess_size G then G' else infer_upto n A c G'
    end.

  Definition infer_passes := 64.
End Infer.

Definition infer (T : tables) (e : engine) (A : roles) (c : code item) : guess expr :=
  infer_upto T e (about_of A) infer_passes (at_start A) c Leaf.
