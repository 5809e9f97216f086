(* Checker.v -- follows the code of one engine and decides whether it waits for what it should

   Purpose   An abstract interpreter over facts (register, expression). At each instruction every
             dependence must have been waited for with exactly the threshold that its class demands,
             and no wait may stand without a dependence behind it. One pass over the code, given the
             facts that hold at the head of each loop; [infer] proposes those and need not be
             believed, as [chk] checks them.
   Paper     the register and wait part of the allocation relation, section 6.3
   C++       what lib/Code emits is to pass; certificates start from here
   Trusted   nothing: Bisimulation.v proves that accepted code realises the specification *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics Decode Expr.

(** * Facts *)

(* The register holds the value of the expression; a register may have several facts. *)
Definition facts := list (reg * expr).

Definition valid (A : facts) (g : genv) (rf : reg -> nat) :=
  forall r x, In (r, x) A -> rf r = den x g.

Definition fact_eqb (f h : reg * expr) := (fst f =? fst h) && expr_eqb (snd f) (snd h).
Definition mem (f : reg * expr) (A : facts) := existsb (fact_eqb f) A.
Definition sub (I A : facts) := forallb (fun f => mem f A) I.
Definition meet (A B : facts) := filter (fun f => mem f B) A.

(* The expressions an operand is known to hold. *)
Definition ovals (A : facts) (o : operand) : list expr :=
  match o with
  | OImm n => [EC n]
  | OReg r => map snd (filter (fun f => fst f =? r) A)
  end.

(* Facts may be dropped; so many of one register are kept. *)
Definition fact_limit := 8.

Fixpoint distinct (xs : list expr) : list expr :=
  match xs with
  | [] => []
  | x :: t => if existsb (expr_eqb x) t then distinct t else x :: distinct t
  end.

Definition results (act : list loopid) (o : regop) (A : facts) : list expr :=
  flat_map (fun a => map (mk act (aop o) a) (ovals A (opb o))) (ovals A (opa o)).

Definition exec_facts (act : list loopid) (o : regop) (A : facts) : facts :=
  filter (fun f => negb (fst f =? dst o)) A ++
  map (pair (dst o)) (firstn fact_limit (distinct (results act o A))).

(** * Entering and leaving a body *)

(* What the expression is called after body l was entered; none: it has lost its name. *)
Fixpoint after_entry (l : loopid) (x : expr) : option expr :=
  match x with
  | EC n => Some (EC n)
  | ETot y => Some (if y =? l then ETotP l else ETot y)
  | ETotP y => if y =? l then None else Some x
  | EHat y => Some (if y =? l then EHatP l else EHat y)
  | EHatP y => if y =? l then None else Some x
  | EHist s m p =>
      if m =? 0 then None else Some (if s =? l then EHist s (m + 1) p else EHist s m p)
  | EBin o a b =>
      match after_entry l a, after_entry l b with
      | Some a, Some b => Some (EBin o a b)
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

  (* The live count of an inner body is, at the entry of l, its count up to the previous iteration.
     *)
  Definition enter1 (l : loopid) (f : reg * expr) : facts :=
    match after_entry l (snd f) with Some y => [(fst f, y)] | None => [] end ++
    match snd f with
    | ETot p => if under l p then [(fst f, EHist l 1 p)] else []
    | _ => []
    end.

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

  (* [past] of a body p inside s *)
  Definition past_of (s : loopid) (m : nat) (p : loopid) : expr :=
    if p =? s then mk act ASub (tot_of p) (EC m)
    else if m =? 0 then tot_of p else EHist s m p.

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

  Definition holds (A : facts) (o : operand) (x : expr) : bool := existsb (expr_eqb x) (ovals A o).

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

  Definition all_waited (j : instr) (Dn : list dep) : bool :=
    forallb (fun d => dep_mem d Dn) (deps T j).

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
            | d :: ds => items act A (d :: ds ++ Dn) t
            end
        end
    | Issue j None :: t => if all_waited j Dn then items act A [] t else None
    | Issue j (Some w) :: t =>
        match served act A w j with
        | [] => None
        | d :: ds => if all_waited j (d :: ds ++ Dn) then items act A [] t else None
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
        match chk (lt :: act) (enter (path T) lt (header lt A)) bt,
              chk (lf :: act) (enter (path T) lf (header lf A)) bf with
        | Some At, Some Af => chk act (meet (leave lt At) (leave lf Af)) r
        | _, _ => None
        end
    end.
End Checker.

(** * Proposing the facts at loop heads

   Starts from all that holds before each loop and drops what the body does not keep, pass by pass
   over the whole code, until nothing more is dropped. A pass is linear in the code and carries the
   guess for each loop along, so that nesting does not multiply the work. *)

Section Infer.
  Variable T : tables.
  Variable e : engine.

  Definition guess := list (loopid * facts).

  Definition guess_of (G : guess) (l : loopid) : option facts :=
    option_map snd (find (fun p => fst p =? l) G).

  Definition item_facts (act : list loopid) (A : facts) (x : item) : facts :=
    match x with RegOp o => exec_facts act o A | _ => A end.

  (* The facts after the code, and the new guess in front of those already made in this pass. *)
  Fixpoint infer_pass (G : guess) (act : list loopid) (A : facts) (N : guess) (c : code item)
    : facts * guess :=
    match c with
    | CNil => (A, N)
    | CBlock f r => infer_pass G act (fold_left (item_facts act) (nth e f []) A) N r
    | CLoop l b r =>
        let A0 := header l A in
        let H := match guess_of G l with Some H => meet H A0 | None => A0 end in
        let '(A', N') := infer_pass G (l :: act) (enter (path T) l H) N b in
        let H' := meet H A' in
        infer_pass G act (leave l H') ((l, H') :: N') r
    | CCond lt lf bt bf r =>
        let '(At, N1) := infer_pass G (lt :: act) (enter (path T) lt (header lt A)) N bt in
        let '(Af, N2) := infer_pass G (lf :: act) (enter (path T) lf (header lf A)) N1 bf in
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

  Definition infer (A : facts) (c : code item) : loopid -> facts :=
    let G := infer_upto infer_passes A c [] in
    fun l => match guess_of G l with Some H => H | None => [] end.
End Infer.
