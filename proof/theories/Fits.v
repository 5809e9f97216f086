(* Fits.v -- decides that the numbers of code fit, given how often each body is entered at most

   Purpose   Follows the code of one engine as Checker.v does, and knows of registers when they do
             not differ on a machine that wraps around (Words.v): always, or while some expressions
             over counts are above some numbers. A difference is firm while it does not go below
             zero; a product with a mask, whenever what the mask says is enough for its other
             factor. Bounds come from the facts: an expression over counts has a largest value, and
             under a condition a smallest one. FitsSound.v proves that accepted code fits.
   Paper     -
   C++       lib/Code/Overflow.cpp and the guards of lib/Code/Legalize.cpp
   Trusted   nothing

   Extracted with machine integers, products of bounds must not overflow those: 2^bits squared. *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics Maps Expr Known Checker Infer Bisimulation Certificate.

(* Each expression is above its number. *)
Definition condition := list (expr * nat).

(* Of each register, conditions under which it is firm. *)
Definition firms := known condition.
Definition condition_parts (K : condition) : list loopid := flat_map (fun h => parts (fst h)) K.
Definition firm_when : firms -> reg -> list condition := reads condition_parts.

(* The smallest value of an expression, inside act, under a condition. *)
Section Least.
  Variable act : list loopid.
  Variable H : condition.

  (* u > n says that x is at least ... *)
  Definition assumed (x : expr) (h : expr * nat) : nat :=
    if expr_eqb (fst h) x then S (snd h) else
    match x, fst h with
    | ETot l, EHat l' => if l =? l' then S (snd h) else 0
    | _, _ => 0
    end.

  Fixpoint least (x : expr) : nat :=
    Nat.max (fold_right (fun h n => Nat.max (assumed x h) n) 0 H)
      match x with
      | EC n => n
      | ETot l | EHat l => if inb l act then 1 else 0
      | EBin AAdd a b => least a + least b
      | EBin ASub a (EC n) => least a - n
      | EBin AMul (EC n) a => n * least a
      | EBin AMin a b => Nat.min (least a) (least b)
      | _ => 0
      end.

  Definition follows (h : expr * nat) : bool := snd h <? least (fst h).

  (* What has to hold beside. *)
  Definition residual (K : condition) : condition := filter (fun h => negb (follows h)) K.
End Least.

(* One of the conditions holds whenever K does. *)
Definition weaker (Ks : list condition) (K : condition) : bool :=
  existsb (forallb (follows [] K)) Ks.

Definition all_firm (rs : list reg) (want have : reg -> list condition) : bool :=
  forallb (fun r => let Ks := have r in forallb (weaker Ks) (want r)) rs.

(** * Entering and leaving a body *)

Fixpoint renamed (l : loopid) (K : condition) : option condition :=
  match K with
  | [] => Some []
  | (u, n) :: K =>
      match after_entry l u, renamed l K with
      | Some v, Some K => Some ((v, n) :: K)
      | _, _ => None
      end
  end.

Definition renamed1 (l : loopid) (K : condition) : list condition :=
  match renamed l K with Some J => [J] | None => [] end.

Definition firm_enter (rs : list reg) (l : loopid) (F : firms) : firms :=
  renew F [l] rs (fun r => flat_map (renamed1 l) (firm_when F r)).

Definition firm_outside (l : loopid) (F : firms) (r : reg) : list condition :=
  filter (forallb (fun h => survives_exit l (fst h))) (firm_when F r).

Definition firm_leave (rs : list reg) (l : loopid) (F : firms) : firms :=
  renew F [l] rs (firm_outside l F).

(* As [loop_head] and [joined] of Checker.v. *)
Definition firm_head (rs : list reg) (l : loopid) (ls : list loopid) (H : reg -> list condition)
    (F : firms) : firms := renew F (l :: ls) rs H.

Definition firm_joined (rs : list reg) (lt lf : loopid) (ls : list loopid) (F Ft Ff : firms) : firms
  := renew F (lt :: lf :: ls) rs (fun r =>
       let Ks := firm_outside lf Ff r in filter (weaker Ks) (firm_outside lt Ft r)).

Section Bounds.
  Variable M : nat.            (* 2^bits *)
  Variable B : loopid -> nat.  (* entries of each body, at most *)

  (* The largest value of an expression. *)
  Fixpoint most (x : expr) : nat :=
    match x with
    | EC n => n
    | ETot l | ETotP l | EHat l | EHatP l => B l
    | EHist _ _ p => B p
    | EBin o a b =>
        match o with
        | AMove | ASub => most a
        | AAdd => most a + most b
        | AMul => most a * most b
        | AMin => Nat.min (most a) (most b)
        | AGt => 1
        end
    end.

  (* What is above what, if a mask is not 0. *)
  Fixpoint above (x : expr) : condition :=
    match x with
    | EBin AGt u (EC n) => [(u, n)]
    | EBin AMul a b => above a ++ above b
    | _ => []
    end.

  (** * One operation *)

  Section Operation.
    Variables (act : list loopid) (o : regop) (A : facts) (F : firms).

    (* When an operand is firm: under each of these. *)
    Definition operand_firm (x : operand) : list condition :=
      match x with
      | OImm n => if n <? M then [[]] else []
      | OReg r => firm_when F r
      end.

    Definition always_firm (x : operand) : bool :=
      existsb (forallb (follows act [])) (operand_firm x).

    Definition small : bool := existsb (fun x => most x <? M) (results act o A).

    Definition both (H K : condition) : condition := H ++ residual act H K.

    Definition all_both (Hs Ks : list condition) : list condition :=
      flat_map (fun H => map (both H) Ks) Hs.

    Definition both_firm : list condition := all_both (operand_firm (opa o)) (operand_firm (opb o)).

    (* b is never above a *)
    Definition never_above (b a : expr) : bool :=
      (most b <=? least act [] a) ||
      match b, a with
      | EBin ASub x _, _ | EBin AMin x _, _ => expr_eqb x a
      | EHat l, ETot l' => l =? l'
      | _, _ => false
      end.

    (* When the difference is not below zero. *)
    Definition in_order : list condition :=
      if existsb (fun a => existsb (fun b => never_above b a) (ovals A (opb o))) (ovals A (opa o))
      then [[]]
      else flat_map (fun b => match b with
                              | EC (S n) => map (fun a => [(a, n)]) (ovals A (opa o))
                              | _ => []
                              end) (ovals A (opb o)).

    (* g * x, where x need not be firm while g is 0 *)
    Definition masked (g x : operand) : list condition :=
      flat_map (fun H => flat_map (fun K => map (fun y => both H (residual act (above y) K))
        (EC 1 :: ovals A g)) (operand_firm x)) (operand_firm g).

    Definition result_firm : list condition :=
      match aop o with
      | AMove => operand_firm (opa o)
      | AAdd => if small then both_firm else []
      | ASub => all_both both_firm in_order
      | AMul => if small then masked (opa o) (opb o) ++ masked (opb o) (opa o) else []
      | AMin | AGt => both_firm
      end.

    (* The weakest ones, and so many. *)
    Definition condition_limit := 8.

    Fixpoint put_condition (K : condition) (Ks : list condition) : list condition :=
      match Ks with
      | [] => [K]
      | H :: t => if forallb (follows [] K) H then Ks
                  else if length K <=? length H then K :: Ks else H :: put_condition K t
      end.

    Definition weakest (Ks : list condition) : list condition :=
      firstn condition_limit (fold_right put_condition [] (map (residual act []) Ks)).

    Definition exec_firms : firms :=
      write F (dst o) (weakest result_firm).
  End Operation.

  (** * The code of one engine *)

  Section Code.
    Variable path : loopid -> list loopid.
    Variable e : engine.
    Variable about : tree (list reg).
    Variable inv : guess expr.
    Variable finv : guess condition.

    Definition wait_firm (act : list loopid) (F : firms) (w : option wait) : bool :=
      match w with None => true | Some w => always_firm act F (snd w) end.

    Fixpoint fit_items (act : list loopid) (A : facts) (F : firms) (xs : list item)
      : option (facts * firms) :=
      match xs with
      | [] => Some (A, F)
      | RegOp o :: t => fit_items act (exec_facts act o A) (exec_firms act o A F) t
      | Wait w :: t => if wait_firm act F (Some w) then fit_items act A F t else None
      | Issue _ w :: t => if wait_firm act F w then fit_items act A F t else None
      end.

    Fixpoint fit_code (act : list loopid) (A : facts) (F : firms) (c : code item)
      : option (facts * firms) :=
      match c with
      | CNil => Some (A, F)
      | CBlock f r =>
          match fit_items act A F (nth e f []) with
          | Some (A', F') => fit_code act A' F' r
          | None => None
          end
      | CLoop l b r =>
          let rs := touched e about b in
          let H := at_head inv l in
          let J := at_head finv l in
          let A0 := loop_head rs l (inner b) H A in
          let F0 := firm_head rs l (inner b) J F in
          if all_known rs H (before_loop l A) && all_firm rs J (firm_when F) then
            match fit_code (l :: act) (enter path rs l A0) (firm_enter rs l F0) b with
            | Some (A', F') =>
                if all_known rs H (values A') && all_firm rs J (firm_when F')
                then fit_code act (leave rs l A0) (firm_leave rs l F0) r else None
            | None => None
            end
          else None
      | CCond lt lf bt bf r =>
          let rt := touched e about bt in
          let rf := touched e about bf in
          let rs := rt ++ rf in
          let ls := inner bt ++ inner bf in
          match fit_code (lt :: act) (enter path rt lt A) (firm_enter rt lt F) bt,
                fit_code (lf :: act) (enter path rf lf A) (firm_enter rf lf F) bf with
          | Some (At, Ft), Some (Af, Ff) =>
              fit_code act (joined rs lt lf ls A At Af) (firm_joined rs lt lf ls F Ft Ff) r
          | _, _ => None
          end
      end.

    (** ** Proposing what is firm at loop heads, as Infer.v does; not believed *)

    Definition item_firms (act : list loopid) (S : facts * firms) (x : item) : facts * firms :=
      match x with
      | RegOp o => (exec_facts act o (fst S), exec_firms act o (fst S) (snd S))
      | _ => S
      end.

    Definition firm_candidates (G : guess condition) (l : loopid) (F : firms) (r : reg)
      : list condition :=
      let Ks := firm_when F r in
      match get G l with Some J => filter (weaker Ks) (get_or [] J r) | None => Ks end.

    Fixpoint guess_pass (G : guess condition) (act : list loopid) (A : facts) (F : firms)
        (N : guess condition) (c : code item) : facts * firms * guess condition :=
      match c with
      | CNil => (A, F, N)
      | CBlock f r =>
          let S := fold_left (item_firms act) (nth e f []) (A, F) in
          guess_pass G act (fst S) (snd S) N r
      | CLoop l b r =>
          let rs := touched e about b in
          let ls := inner b in
          let A0 := loop_head rs l ls (at_head inv l) A in
          let J := get_or [] (tabulate rs (firm_candidates G l F)) in
          let '(_, F', N') := guess_pass G (l :: act) (enter path rs l A0)
            (firm_enter rs l (firm_head rs l ls J F)) N b in
          let kept := tabulate rs (fun r => filter (weaker (firm_when F' r)) (J r)) in
          let F0 := firm_head rs l ls (get_or [] kept) F in
          guess_pass G act (leave rs l A0) (firm_leave rs l F0) (set l kept N') r
      | CCond lt lf bt bf r =>
          let rt := touched e about bt in
          let rf := touched e about bf in
          let rs := rt ++ rf in
          let ls := inner bt ++ inner bf in
          let '(At, Ft, N1) := guess_pass G (lt :: act) (enter path rt lt A)
            (firm_enter rt lt F) N bt in
          let '(Af, Ff, N2) := guess_pass G (lf :: act) (enter path rf lf A)
            (firm_enter rf lf F) N1 bf in
          guess_pass G act (joined rs lt lf ls A At Af) (firm_joined rs lt lf ls F Ft Ff) N2 r
      end.

    (* Enough passes for what kernels do; too few can only lead to a no. *)
    Fixpoint guess_upto (n : nat) (A : facts) (F : firms) (c : code item) (G : guess condition)
      : guess condition :=
      match n with
      | 0 => G
      | S n => let G' := snd (guess_pass G [ROOT] A F Leaf c) in
               if guess_size G' =? guess_size G then G' else guess_upto n A F c G'
      end.
  End Code.

  Definition guess_passes := 64.
End Bounds.

(** * A whole certificate *)

(* All registers of the code are firm at the start. *)
Definition start_firms (e : engine) (c : code item) : firms :=
  renew nothing [] (without_twins Leaf (mentions e c)) (fun _ => [[]]).

Section Certificate.
  Variables (M : nat) (B : loopid -> nat) (c : cert).
  Let T := tables_of c.

  Definition engine_fits (e : engine) : bool :=
    let roles := nth e (c_roles c) [] in
    let about := about_of roles in
    let A := at_start roles in
    let F := start_firms e (c_code c) in
    let inv := infer T e roles (c_code c) in
    let finv := guess_upto M B (path T) e about inv guess_passes A F (c_code c) Leaf in
    match fit_code M B (path T) e about inv finv [ROOT] A F (c_code c) with
    | Some _ => true
    | None => false
    end.

  (* What the entries of its body add to a semaphore, at most. *)
  Definition most_of (w : sema) : nat :=
    let s := site_of c w in
    weight T (s_queue s) *
    (length (filter (raises (signals_of c) w) (body T (s_body s) (s_engine s))) * B (s_body s)).

  (* The numbers of the code stay below M if bodies are entered at most B times. *)
  Definition code_fits : bool :=
    (0 <? M) && forallb (fun '(_, w) => most_of w <? M) (c_signals c) &&
    forallb engine_fits (seq 0 (S (c_engines c))).
End Certificate.
