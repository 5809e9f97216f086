(* Checker.v -- follows the code of one engine and decides whether it waits for what it should

   Purpose   An abstract interpreter over facts (register, expression). At each instruction every
             dependence must have been waited for, and every wait must have exactly the threshold of
             some dependence behind it; what that threshold implies goes with it. One pass over the
             code, given the facts that hold at the head of each loop; [infer] proposes those and
             need not be believed, as [chk] checks them.
   Paper     the register and wait part of the allocation relation, section 6.3
   C++       what lib/Code emits is to pass; certificates start from here
   Trusted   nothing: Bisimulation.v proves that accepted code realises the specification *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics Maps Decode Expr.

(** * Facts *)

(* The register holds the value of the expression; a register may have several facts. *)
Definition facts := list (reg * expr).

Definition valid (A : facts) (g : genv) (rf : reg -> nat) :=
  forall r x, In (r, x) A -> rf r = den x g.

Definition fact_eqb (f h : reg * expr) := (fst f =? fst h) && expr_eqb (snd f) (snd h).
Definition mem (f : reg * expr) (A : facts) := existsb (fact_eqb f) A.

(* Of many facts. *)
Definition known (t : tree (list expr)) (f : reg * expr) : bool :=
  existsb (expr_eqb (snd f)) (get_or [] t (fst f)).

Definition sub (I A : facts) := let t := index A in forallb (known t) I.
Definition meet (A B : facts) := let t := index B in filter (known t) A.

(* The expressions an operand is known to hold. *)
Definition ovals (A : facts) (o : operand) : list expr :=
  match o with
  | OImm n => [EC n]
  | OReg r => map snd (filter (fun f => fst f =? r) A)
  end.

(* Facts may be dropped; so many of one register are kept, the small ones first: guards and masks
   that met what they belong to have made them so. *)
Definition fact_limit := 16.

Fixpoint size (x : expr) : nat :=
  match x with EBin _ a b => S (size a + size b) | _ => 1 end.

Fixpoint insert (x : expr) (xs : list expr) : list expr :=
  match xs with
  | [] => [x]
  | y :: t => if size x <=? size y then x :: xs else y :: insert x t
  end.

Definition by_size (xs : list expr) : list expr := fold_right insert [] xs.

Fixpoint distinct (xs : list expr) : list expr :=
  match xs with
  | [] => []
  | x :: t => if existsb (expr_eqb x) t then distinct t else x :: distinct t
  end.

(* What the number n is, if another register z is known to hold 0: n, and n more than all else that
   z holds. A move has no use for its second operand; there the code may name such a register:
   `r := 0 (z)`, where z is 0 and total(A) is 0, starts a counter of A; `r := 16 (z)`, where
   32*total(A) is 0, a threshold that A steps by 32. *)
Definition also (act : list loopid) (A : facts) (n : nat) (o : operand) : list expr :=
  match o with
  | OReg z => if mem (z, EC 0) A then map (fun x => mk act AAdd x (EC n)) (ovals A o) else [EC n]
  | OImm _ => [EC n]
  end.

Definition results (act : list loopid) (o : regop) (A : facts) : list expr :=
  match aop o, opa o with
  | AMove, OImm n => also act A n (opb o)
  | _, _ => flat_map (fun a => map (mk act (aop o) a) (ovals A (opb o))) (ovals A (opa o))
  end.

Definition exec_facts (act : list loopid) (o : regop) (A : facts) : facts :=
  filter (fun f => negb (fst f =? dst o)) A ++
  map (pair (dst o)) (firstn fact_limit (by_size (distinct (results act o A)))).

(** * Entering and leaving a body *)

(* What the expression is called after body l was entered; none: it has lost its name. *)
Fixpoint after_entry (l : loopid) (x : expr) : option expr :=
  match x with
  | EC n => Some (EC n)
  | ETot y => Some (if y =? l then ETotP l else ETot y)
  | ETotP y => Some (if y =? l then less (ETot l) 2 else x)
  | EHat y => Some (if y =? l then EHatP l else EHat y)
  | EHatP y => Some (if y =? l then less (EHat l) 2 else x)
  | EHist s m p =>
      if m =? 0 then None else Some (if s =? l then EHist s (m + 1) p else EHist s m p)
  | EBin o a b =>
      match after_entry l a, after_entry l b with
      | Some a, Some b => Some (mk [l] o a b)
      | _, _ => None
      end
  end.

Fixpoint survives_exit (l : loopid) (x : expr) : bool :=
  match x with
  | EHat y | EHatP y => negb (y =? l)
  | EBin _ a b => survives_exit l a && survives_exit l b
  | _ => true
  end.

Section Bodies.
  Variable path : loopid -> list loopid.

  (* p lies strictly inside l *)
  Definition under (l p : loopid) := inb l (path p) && negb (p =? l).

  (* The live count of an inner body is, at the entry of l, its count up to the previous iteration;
     so are a multiple of it, and some more or less. *)
  Fixpoint as_past (l : loopid) (x : expr) : option expr :=
    match x with
    | ETot p => if under l p then Some (EHist l 1 p) else None
    | ETotP p => if under l p then Some (less (EHist l 1 p) 1) else None
    | EBin AMul (EC n) y => option_map (EBin AMul (EC n)) (as_past l y)
    | EBin AAdd y (EC n) => option_map (fun z => EBin AAdd z (EC n)) (as_past l y)
    | EBin ASub y (EC n) => option_map (fun z => EBin ASub z (EC n)) (as_past l y)
    | _ => None
    end.

  Definition enter1 (l : loopid) (f : reg * expr) : facts :=
    match after_entry l (snd f) with Some y => [(fst f, y)] | None => [] end ++
    match as_past l (snd f) with Some y => [(fst f, y)] | None => [] end.

  Definition enter (l : loopid) (A : facts) : facts := flat_map (enter1 l) A.
  Definition leave (l : loopid) (A : facts) : facts := filter (fun f => survives_exit l (snd f)) A.

  (* Outside l its trip counter is 0: a register that holds 0 holds it. *)
  Definition is_const (x : expr) (n : nat) := match x with EC m => m =? n | _ => false end.
  Definition header (l : loopid) (A : facts) : facts :=
    A ++ flat_map (fun f => if is_const (snd f) 0 then [(fst f, EHat l)] else []) A.
End Bodies.

(** * What a wait must compare with *)

Section Threshold.
  Variable T : tables.
  Variable signals : instr -> option sema.
  Variable act : list loopid.

  Definition raises (w : sema) (i : instr) : bool :=
    match signals i with Some v => v =? w | None => false end.

  (* The instructions beside i that raise w, in order: N is their number, K the place of i. *)
  Definition group (w : sema) (i : instr) : list instr :=
    filter (raises w) (body T (home T i) (eng T i)).

  Fixpoint place (xs : list instr) (i : instr) : nat :=
    match xs with
    | [] => 0
    | y :: t => if y =? i then 1 else match place t i with 0 => 0 | n => S n end
    end.

  Definition tot_of l := if l =? ROOT then EC 1 else ETot l.
  Definition hat_of l := if l =? ROOT then EC 1 else EHat l.

  (* [past] of a body p inside s; the root has no past *)
  Definition past_of (s : loopid) (m : nat) (p : loopid) : expr :=
    if p =? s then mk act ASub (tot_of p) (EC m)
    else if m =? 0 then tot_of p
    else if s =? ROOT then EC 0 else EHist s m p.

  (* Runs of the producer to wait for. *)
  Definition runs (p : loopid) (x : distance) : expr :=
    match x with
    | Carried s k => past_of s k p
    | Flat f => mk act ASub (tot_of p) (EC f)
    | Element s k b back ahead =>
        mk act AMin
          (mk act AAdd (past_of s (k + 1) p)
                       (mk act ASub (mk act AAdd (hat_of b) (EC ahead)) (EC back)))
          (past_of s k p)
    end.

  (* 0 while nothing is owed, else 1 *)
  Definition mask (p : loopid) (x : distance) : expr :=
    match x with
    | Carried s k => mk act AGt (hat_of s) (EC k)
    | Flat f => mk act AGt (tot_of p) (EC f)
    | Element s k b back ahead =>
        mk act AMul (mk act AGt (hat_of s) (EC k))
                    (mk act AGt (mk act AAdd (hat_of b) (EC ahead)) (EC back))
    end.

  (* mask * w*(N*x - (N-K)) *)
  Definition threshold (w : sema) (d : dep) : expr :=
    let p := home T (prd d) in
    let N := length (group w (prd d)) in
    let K := place (group w (prd d)) (prd d) in
    mk act AMul (mask p (dist d))
      (mk act AMul (EC (weight T (que T (prd d))))
        (mk act ASub (mk act AMul (EC N) (runs p (dist d))) (EC (N - K)))).

  Fixpoint nodupb (xs : list nat) :=
    match xs with [] => true | x :: t => negb (inb x t) && nodupb t end.

  (* The loops that the distance names are where the formula needs them. *)
  Definition distance_ok (p : loopid) (x : distance) : bool :=
    match x with
    | Carried s _ => inb s act && inb s (path T p)
    | Flat _ => inb p act
    | Element s _ b _ _ => inb s act && inb s (path T p) && negb (p =? s) && inb b act
    end.

  Definition producer_ok (w : sema) (d : dep) : bool :=
    raises w (prd d) && nodupb (group w (prd d)) && (1 <=? place (group w (prd d)) (prd d)).

  (* The expression, with what is known to be 0 left out, and, if so wanted, with total(l) for
     trip(l) where they are known to be the same. *)
  Definition known_zero (A : facts) (x : expr) : bool :=
    existsb (fun f => expr_eqb (snd f) x && mem (fst f, EC 0) A) A.

  Definition one_trip (A : facts) (l : loopid) : bool :=
    existsb (fun f => expr_eqb (snd f) (EHat l) && mem (fst f, ETot l) A) A.

  Fixpoint informed (totals : bool) (A : facts) (x : expr) : expr :=
    match x with
    | EBin o a b => mk act o (informed totals A a) (informed totals A b)
    | EHist _ _ _ => if known_zero A x then EC 0 else x
    | EHat l => if totals && one_trip A l then ETot l else x
    | EHatP l => if totals && one_trip A l then ETotP l else x
    | _ => x
    end.

  Definition some_version (A : facts) (x : expr) (judge : expr -> bool) : bool :=
    judge x || judge (informed false A x) || judge (informed true A x).

  Definition has (xs : list expr) (x : expr) : bool := existsb (expr_eqb x) xs.

  Definition holds (A : facts) (o : operand) (x : expr) : bool :=
    some_version A x (has (ovals A o)).

  (* The first counts no more than the second: the past of a body grows towards the present. *)
  Definition count_le (a b : expr) : bool :=
    expr_eqb a b ||
    match a, b with
    | EHist s _ p, ETot q => (p =? q) && inb s (path T p)
    | EHist s m p, EHist s' m' p' => (s =? s') && (p =? p') && (m' <=? m)
    | _, _ => false
    end.

  Definition base_le (a b : expr) : bool :=
    count_le a b || match a with EBin AMin _ c => count_le c b | _ => false end.

  (* n * base + plus - minus *)
  Record linear := mklinear { factor : nat; base : expr; plus : nat; minus : nat }.

  Definition scaled_of (a : expr) (p m : nat) : linear :=
    match a with EBin AMul (EC n) x => mklinear n x p m | _ => mklinear 1 a p m end.

  Definition linear_of (a : expr) : linear :=
    match a with
    | EC n => mklinear 0 (EC 0) n 0
    | EBin ASub x (EC k) => scaled_of x 0 k
    | EBin AAdd x (EC k) => scaled_of x k 0
    | ETotP l => mklinear 1 (ETot l) 0 1
    | EHatP l => mklinear 1 (EHat l) 0 1
    | _ => scaled_of a 0 0
    end.

  Definition linear_le (a b : linear) : bool :=
    ((factor a =? 0) || (factor a =? factor b) && base_le (base a) (base b)) &&
    (plus a + minus b <=? plus b + minus a).

  (* Of two factors of a mask the left one says which iteration of the outer loop is meant. *)
  Fixpoint mask_le (a b : expr) : bool :=
    expr_eqb a b ||
    match a, b with
    | EBin AGt x (EC n), EBin AGt y (EC m) => expr_eqb x y && (m <=? n)
    | EBin AMul x y, _ => is_mask y && mask_le x b
    | _, _ => false
    end.

  (* A mask and what it masks. *)
  Definition masked_of (a : expr) : option expr * expr :=
    match a with
    | EBin AMul m x => if is_mask m then (Some m, x) else (None, a)
    | _ => (None, a)
    end.

  Definition at_most (a b : expr) : bool :=
    expr_eqb a b ||
    match masked_of a, masked_of b with
    | (Some m, x), (Some m', y) => mask_le m m' && linear_le (linear_of x) (linear_of y)
    | (_, x), (None, y) => linear_le (linear_of x) (linear_of y)
    | _, _ => false
    end.

  (* Passing the wait implies that the dependence is satisfied. *)
  Definition wait_covers (A : facts) (w : wait) (d : dep) : bool :=
    distance_ok (home T (prd d)) (dist d) && producer_ok (fst w) d &&
    some_version A (threshold (fst w) d) (fun x => existsb (at_most x) (ovals A (snd w))).

  (* Nothing is ever owed, as the program has no run that early. *)
  Definition never_owed (d : dep) : bool :=
    distance_ok (home T (prd d)) (dist d) && expr_eqb (mask (home T (prd d)) (dist d)) (EC 0).

  (* The wait is what the dependence asks for. *)
  Definition wait_ok (A : facts) (w : wait) (d : dep) : bool :=
    distance_ok (home T (prd d)) (dist d) && producer_ok (fst w) d &&
    holds A (snd w) (threshold (fst w) d).
End Threshold.

(** * The checker for one engine *)

Definition distance_eqb (a b : distance) : bool :=
  match a, b with
  | Carried s k, Carried s' k' => (s =? s') && (k =? k')
  | Flat f, Flat f' => f =? f'
  | Element s k b x y, Element s' k' b' x' y' =>
      (s =? s') && (k =? k') && (b =? b') && (x =? x') && (y =? y')
  | _, _ => false
  end.

Definition dep_eqb (a b : dep) : bool := (prd a =? prd b) && distance_eqb (dist a) (dist b).

Lemma dep_eqb_eq a b : dep_eqb a b = true -> a = b.
Proof.
  destruct a as [p x], b as [q y]. unfold dep_eqb. simpl. rewrite andb_true_iff, Nat.eqb_eq.
  intros [-> H]. destruct x, y; simpl in H; try discriminate;
    repeat rewrite andb_true_iff in H; repeat rewrite Nat.eqb_eq in H;
    repeat match goal with [ X : _ /\ _ |- _ ] => destruct X end; congruence.
Qed.

Definition dep_mem (d : dep) (xs : list dep) := existsb (dep_eqb d) xs.

Lemma dep_mem_In d xs : dep_mem d xs = true -> In d xs.
Proof.
  unfold dep_mem. rewrite existsb_exists. intros (x & H & E). apply dep_eqb_eq in E. now subst.
Qed.

(* The instruction that a wait-only operation serves. *)
Fixpoint next_instr (xs : list item) : option instr :=
  match xs with [] => None | Issue j _ :: _ => Some j | _ :: t => next_instr t end.

Section Checker.
  Variable T : tables.
  Variable signals : instr -> option sema.
  Variable e : engine.
  Variable inv : loopid -> facts. (* facts at the head of each loop *)

  Definition served (act : list loopid) (A : facts) (w : wait) (j : instr) : list dep :=
    filter (wait_ok T signals act A w) (deps T j).

  Definition covered (act : list loopid) (A : facts) (w : wait) (j : instr) : list dep :=
    filter (wait_covers T signals act A w) (deps T j).

  Definition all_waited (act : list loopid) (j : instr) (Dn : list dep) : bool :=
    forallb (fun d => dep_mem d Dn || never_owed T act d) (deps T j).

  (* One block. Dn: dependences of the next instruction that earlier waits have covered. *)
  Fixpoint items (act : list loopid) (A : facts) (Dn : list dep) (xs : list item) : option facts :=
    match xs with
    | [] => Some A
    | RegOp o :: t => items act (exec_facts act o A) Dn t
    | Wait w :: t =>
        match next_instr t with
        | None => None
        | Some j =>
            match served act A w j with
            | [] => None
            | _ :: _ => items act A (covered act A w j ++ Dn) t
            end
        end
    | Issue j None :: t => if all_waited act j Dn then items act A [] t else None
    | Issue j (Some w) :: t =>
        match served act A w j with
        | [] => None
        | _ :: _ =>
            if all_waited act j (covered act A w j ++ Dn) then items act A [] t else None
        end
    end.

  (* The facts after the code, if all is well. *)
  Fixpoint chk (act : list loopid) (A : facts) (c : code item) : option facts :=
    match c with
    | CNil => Some A
    | CBlock f r =>
        match items act A [] (nth e f []) with
        | Some A' => chk act A' r
        | None => None
        end
    | CLoop l b r =>
        if sub (inv l) (header l A) then
          match chk (l :: act) (enter (path T) l (inv l)) b with
          | Some A' => if sub (inv l) A' then chk act (leave l (inv l)) r else None
          | None => None
          end
        else None
    | CCond lt lf bt bf r =>
        match chk (lt :: act) (enter (path T) lt A) bt,
              chk (lf :: act) (enter (path T) lf A) bf with
        | Some At, Some Af => chk act (meet (leave lt At) (leave lf Af)) r
        | _, _ => None
        end
    end.
End Checker.

(** * Proposing the facts at loop heads

   Starts from all that holds before each loop and drops what the body does not keep, pass by pass
   over the whole code, until nothing more is dropped. A pass is linear in the code and carries the
   guess for each loop along, so that nesting does not multiply the work.

   Registers that nobody reads any more are dropped: kernels may have many loops, each with counters
   of its own. Of a register that the loop writes, only that it is a counter, or a multiple of one
   and some more or less, can hold at every head. To drop the
   rest at once is not only quicker: what it is before the first iteration (all counters are 0
   there) would crowd out, in the first pass, what it always is. *)

Section Infer.
  Variable T : tables.
  Variable e : engine.

  Definition guess := list (loopid * facts).

  Definition guess_of (G : guess) (l : loopid) : option facts :=
    option_map snd (find (fun p => fst p =? l) G).

  (* The registers that the engine writes. *)
  Definition writes (xs : list item) : list reg :=
    flat_map (fun x => match x with RegOp o => [dst o] | _ => [] end) xs.

  Fixpoint written (c : code item) : list reg :=
    match c with
    | CNil => []
    | CBlock f r => writes (nth e f []) ++ written r
    | CLoop _ b r => written b ++ written r
    | CCond _ _ bt bf r => written bt ++ written bf ++ written r
    end.

  (* The registers that are read in a loop or after it. *)
  Definition live := tree unit.

  Definition add_operand (L : live) (o : operand) : live :=
    match o with OReg r => set r tt L | OImm _ => L end.

  Definition add_item (L : live) (x : item) : live :=
    match x with
    | RegOp o => add_operand (add_operand L (opa o)) (opb o)
    | Wait w | Issue _ (Some w) => add_operand L (snd w)
    | Issue _ None => L
    end.

  Fixpoint add_code (L : live) (c : code item) : live :=
    match c with
    | CNil => L
    | CBlock f r => add_code (fold_left add_item (nth e f []) L) r
    | CLoop _ b r => add_code (add_code L b) r
    | CCond _ _ bt bf r => add_code (add_code (add_code L bt) bf) r
    end.

  (* What is live before the code, and at the head of each loop in it, given what is live after. *)
  Fixpoint lives (L : live) (V : tree live) (c : code item) : live * tree live :=
    match c with
    | CNil => (L, V)
    | CBlock f r =>
        let '(L, V) := lives L V r in (fold_left add_item (nth e f []) L, V)
    | CLoop l b r =>
        let '(L, V) := lives L V r in
        let L := add_code L b in
        (L, set l L (snd (lives L V b)))
    | CCond _ _ bt bf r =>
        let '(L, V) := lives L V r in
        let V := snd (lives L (snd (lives L V bt)) bf) in
        (add_code (add_code L bt) bf, V)
    end.

  (* What may say that a snapshot is 0: see [known_zero]. Bodies of the kernel's own have none. *)
  Definition counts_inside (x : expr) : bool :=
    match x with EHist _ _ _ => true | ETot p => 2 <? length (path T p) | _ => false end.

  Definition add_fact (L : live) (f : reg * expr) : live :=
    if counts_inside (snd f) then set (fst f) tt L else L.

  Definition live_registers (A : facts) (c : code item) : tree live :=
    snd (lives (fold_left add_fact A Leaf) Leaf c).

  Definition is_live (V : tree live) (l : loopid) (r : reg) : bool :=
    match get (get_or Leaf V l) r with Some _ => true | None => false end.

  Fixpoint is_counter (x : expr) : bool :=
    match x with
    | ETot _ | ETotP _ | EHat _ | EHatP _ | EHist _ _ _ => true
    | EBin (AAdd | ASub) y (EC _) | EBin AMul (EC _) y => is_counter y
    | _ => false
    end.

  Definition may_last (V : tree live) (l : loopid) (W : list reg) (f : reg * expr) : bool :=
    is_live V l (fst f) && (is_counter (snd f) || negb (inb (fst f) W)).

  Definition item_facts (act : list loopid) (A : facts) (x : item) : facts :=
    match x with RegOp o => exec_facts act o A | _ => A end.

  (* The facts after the code, and the new guess in front of those already made in this pass. *)
  Variable V : tree live.

  Fixpoint infer_pass (G : guess) (act : list loopid) (A : facts) (N : guess) (c : code item)
    : facts * guess :=
    match c with
    | CNil => (A, N)
    | CBlock f r => infer_pass G act (fold_left (item_facts act) (nth e f []) A) N r
    | CLoop l b r =>
        let A0 := filter (may_last V l (written b)) (header l A) in
        let H := match guess_of G l with Some H => meet H A0 | None => A0 end in
        let '(A', N') := infer_pass G (l :: act) (enter (path T) l H) N b in
        let H' := meet H A' in
        infer_pass G act (leave l H') ((l, H') :: N') r
    | CCond lt lf bt bf r =>
        let '(At, N1) := infer_pass G (lt :: act) (enter (path T) lt A) N bt in
        let '(Af, N2) := infer_pass G (lf :: act) (enter (path T) lf A) N1 bf in
        infer_pass G act (meet (leave lt At) (leave lf Af)) N2 r
    end.

  Definition guess_size (G : guess) : nat := fold_left (fun n p => n + length (snd p)) G 0.

  (* Enough passes for what kernels do; too few can only lead to a rejection. *)
  Fixpoint infer_upto (n : nat) (A : facts) (c : code item) (G : guess) : guess :=
    match n with
    | 0 => G
    | S n => let G' := snd (infer_pass G [ROOT] A [] c) in
             if guess_size G' =? guess_size G then G' else infer_upto n A c G'
    end.

  Definition infer_passes := 64.

End Infer.

Definition infer (T : tables) (e : engine) (A : facts) (c : code item) : loopid -> facts :=
  let G := infer_upto T e (live_registers T e A c) infer_passes A c [] in
  fun l => match guess_of G l with Some H => H | None => [] end.
