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
From Tally Require Import Syntax Semantics Maps Decode Expr Known.

(** * Facts *)

(* The bodies whose entry may change an expression. *)
Fixpoint parts (x : expr) : list loopid :=
  match x with
  | EC _ => []
  | ETot l | ETotP l | EHat l | EHatP l => [l]
  | EHist s m p => if m =? 0 then [s; p] else [s]
  | EBin _ a b => parts a ++ parts b
  end.

(* Of each register, expressions that it holds. *)
Definition facts := known expr.
Definition values : facts -> reg -> list expr := reads parts.

Definition valid (A : facts) (g : genv) (rf : reg -> nat) :=
  stamped A /\ forall r x, In x (values A r) -> rf r = den x g.

Definition has (xs : list expr) (x : expr) : bool := existsb (expr_eqb x) xs.

(* The expressions an operand is known to hold. *)
Definition ovals (A : facts) (o : operand) : list expr :=
  match o with OImm n => [EC n] | OReg r => values A r end.

(* What is given of registers at the start. *)
Definition roles := list (reg * expr).

(* Registers that count a body, or that are 0 as its counter is. *)
Definition about_of (A : roles) : tree (list reg) :=
  fold_left (fun t f => match snd f with
                        | ETot p => set p (fst f :: get_or [] t p) t
                        | _ => t
                        end) A Leaf.

Definition at_start (A : roles) : facts :=
  mkknown 0
    (fold_left (fun t f => set (fst f) ((0, snd f) :: get_or [] t (fst f)) t) A Leaf)
    Leaf (about_of A).

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
  | OReg z =>
      let xs := values A z in
      if has xs (EC 0) then map (fun x => mk act AAdd x (EC n)) xs else [EC n]
  | OImm _ => [EC n]
  end.

Definition results (act : list loopid) (o : regop) (A : facts) : list expr :=
  match aop o, opa o with
  | AMove, OImm n => also act A n (opb o)
  | _, _ => flat_map (fun a => map (mk act (aop o) a) (ovals A (opb o))) (ovals A (opa o))
  end.

(* Nor is an expression kept that is too large to say anything: r := r*r, thirty times, would have
   more parts than there is memory. *)
Definition size_limit := 256.
Definition is_small (x : expr) : bool := size x <=? size_limit.

Definition exec_facts (act : list loopid) (o : regop) (A : facts) : facts :=
  write A (dst o) (firstn fact_limit (by_size (distinct (filter is_small (results act o A))))).

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

  Definition entered1 (l : loopid) (x : expr) : list expr :=
    match after_entry l x with Some y => [y] | None => [] end ++
    match as_past l x with Some y => [y] | None => [] end.

  (* Body l is entered, which touches registers rs; and it is left. *)
  Definition enter (rs : list reg) (l : loopid) (A : facts) : facts :=
    renew A [l] rs (fun r => flat_map (entered1 l) (values A r)).
End Bodies.

(* What stays true when l is left. *)
Definition outside (l : loopid) (A : facts) (r : reg) : list expr :=
  filter (survives_exit l) (values A r).

Definition leave (rs : list reg) (l : loopid) (A : facts) : facts := renew A [l] rs (outside l A).

(** ** Loops: what holds at the head, each time *)

(* Before l its trip counter is 0: a register that holds 0 holds it. *)
Definition before_loop (l : loopid) (A : facts) (r : reg) : list expr :=
  let xs := values A r in if has xs (EC 0) then xs ++ [EHat l] else xs.

(* All that is wanted of registers rs is known. *)
Definition all_known (rs : list reg) (want have : reg -> list expr) : bool :=
  forallb (fun r => let ys := have r in forallb (has ys) (want r)) rs.

(* Where entries in this trip are all there are, some register holds both counters. *)
Definition holds_both (l : loopid) (xs : list expr) : bool := has xs (EHat l) && has xs (ETot l).

(* The loop l with the bodies ls inside touches registers rs, of which H holds at each head. *)
Definition loop_head (rs : list reg) (l : loopid) (ls : list loopid) (H : reg -> list expr)
    (A : facts) : facts :=
  name_teller (renew A (l :: ls) rs H) l (find (fun r => holds_both l (H r)) rs).

(* After a conditional: what both branches say. *)
Definition joined (rs : list reg) (lt lf : loopid) (ls : list loopid) (A At Af : facts) : facts :=
  renew A (lt :: lf :: ls) rs (fun r =>
    let ys := outside lf Af r in filter (has ys) (outside lt At r)).

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
  Definition known_zero (A : facts) (x : expr) (p : loopid) : bool :=
    existsb (fun r => has (values A r) x && has (values A r) (EC 0)) (get_or [] (tellers A) p).

  Definition one_trip (A : facts) (l : loopid) : bool :=
    existsb (fun r => holds_both l (values A r)) (get_or [] (tellers A) l).

  Fixpoint informed (totals : bool) (A : facts) (x : expr) : expr :=
    match x with
    | EBin o a b => mk act o (informed totals A a) (informed totals A b)
    | EHist _ _ p => if known_zero A x p then EC 0 else x
    | EHat l => if totals && one_trip A l then ETot l else x
    | EHatP l => if totals && one_trip A l then ETotP l else x
    | _ => x
    end.

  Definition some_version (A : facts) (x : expr) (judge : expr -> bool) : bool :=
    judge x || judge (informed false A x) || judge (informed true A x).

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
  Variable about : tree (list reg).
  Variable inv : guess expr. (* what holds at the head of each loop *)

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
        let rs := touched e about b in
        let H := at_head inv l in
        let A0 := loop_head rs l (inner b) H A in
        if all_known rs H (before_loop l A) then
          match chk (l :: act) (enter (path T) rs l A0) b with
          | Some A' => if all_known rs H (values A') then chk act (leave rs l A0) r else None
          | None => None
          end
        else None
    | CCond lt lf bt bf r =>
        let rt := touched e about bt in
        let rf := touched e about bf in
        match chk (lt :: act) (enter (path T) rt lt A) bt,
              chk (lf :: act) (enter (path T) rf lf A) bf with
        | Some At, Some Af =>
            chk act (joined (rt ++ rf) lt lf (inner bt ++ inner bf) A At Af) r
        | _, _ => None
        end
    end.
End Checker.
