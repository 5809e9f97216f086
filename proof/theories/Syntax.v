(* Syntax.v -- programs, positions in them, and the control steps that both systems share

   Purpose   What a kernel and the code of its engines look like, and how one engine walks through
             them. The specification and the implementation run the same control skeleton; they
             differ in what stands in a block.
   Paper     section 3.1 (program model), section 6.1-6.2, appendix A.1-A.4
   C++       Model/Kernel.h (loop tree, blocks), Code/Code.h (Op: Issue, Wait, Alu)
   Trusted   everything here is a definition, and part of what a reader must believe. *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.
Set Implicit Arguments.

(* Identifiers are numbers; a name says which table a number belongs to. *)
Definition engine := nat. (* a sequencer: issues in order *)
(* instructions of one queue retire in order; an engine may have several *)
Definition queue := nat.
Definition loopid := nat. (* a body: a loop, one branch of a conditional, or the kernel itself *)
Definition instr := nat.
Definition sema := nat.
Definition reg := nat.

(* The kernel's own body is a loop that is entered once. *)
Definition ROOT : loopid := 0.

Definition upd {B} (f : nat -> B) (a : nat) (b : B) : nat -> B
    := fun x => if x =? a then b else f x.

Lemma upd_eq {B} (f : nat -> B) a b : upd f a b a = b.
Proof. unfold upd. now rewrite Nat.eqb_refl. Qed.

Lemma upd_ne {B} (f : nat -> B) a b x : x <> a -> upd f a b x = f x.
Proof. intros. unfold upd. destruct (Nat.eqb_spec x a); congruence. Qed.

(** * Code *)

(* A list of statements. A block holds one stream for each engine: [nth e f []]. A conditional has
   two loop ids, one for each branch. [A] is [instr] in a specification, [item] in code. *)
Inductive code (A : Type) :=
| CNil
| CBlock (f : list (list A)) (rest : code A)
| CLoop (l : loopid) (body rest : code A)
| CCond (lt lf : loopid) (bt bf rest : code A).
Arguments CNil {A}.

(* What encloses a position, innermost first. [n] is the iteration number, from 1. *)
Inductive kont (A : Type) :=
| KStop
| KLoop (l : loopid) (n : nat) (body rest : code A) (k : kont A)
| KCond (l : loopid) (rest : code A) (k : kont A).
Arguments KStop {A}.

(* Rest of the current block, rest of the current statement list, what encloses them. *)
Record pos A := mkpos { cur : list A; cod : code A; kon : kont A }.

(* Entries of body [x] in its current trip: the paper's trip register, 0 outside [x]. *)
Fixpoint trips {A} (k : kont A) (x : loopid) : nat :=
  match k with
  | KStop => if x =? ROOT then 1 else 0
  | KLoop l n _ _ k => if x =? l then n else trips k x
  | KCond l _ k => if x =? l then 1 else trips k x
  end.

(* The bodies around a position, innermost first; always ends with ROOT. *)
Fixpoint active {A} (k : kont A) : list loopid :=
  match k with KStop => [ROOT] | KLoop l _ _ _ k | KCond l _ k => l :: active k end.

Definition owner {A} (k : kont A) : loopid := hd ROOT (active k).

(* The iteration vector of a position, outermost first. *)
Definition vector {A} (k : kont A) : list nat := rev (map (trips k) (active k)).

(** * One engine's control steps *)

Section Control.
  Variable C : Type. (* control state of an engine; never reads what instructions compute *)
  Variable guard : engine -> loopid -> C -> bool.
  Variable ctl : engine -> loopid -> C -> C.
  Variable A : Type.

  (* The last argument: the body that the step enters, if any. The back edge, with the guard
     evaluated again, is one step. *)
  Inductive cstep (e : engine) : pos A -> C -> pos A -> C -> option loopid -> Prop :=
  | cs_block f r k c :
      cstep e (mkpos [] (CBlock f r) k) c (mkpos (nth e f []) r k) c None
  | cs_enter l b r k c : guard e l c = true ->
      cstep e (mkpos [] (CLoop l b r) k) c (mkpos [] b (KLoop l 1 b r k)) c (Some l)
  | cs_skip l b r k c : guard e l c = false ->
      cstep e (mkpos [] (CLoop l b r) k) c (mkpos [] r k) c None
  | cs_back l n b r k c : guard e l (ctl e l c) = true ->
      cstep e (mkpos [] CNil (KLoop l n b r k)) c
              (mkpos [] b (KLoop l (S n) b r k)) (ctl e l c) (Some l)
  | cs_exit l n b r k c : guard e l (ctl e l c) = false ->
      cstep e (mkpos [] CNil (KLoop l n b r k)) c (mkpos [] r k) (ctl e l c) None
  | cs_then lt lf bt bf r k c : guard e lt c = true ->
      cstep e (mkpos [] (CCond lt lf bt bf r) k) c (mkpos [] bt (KCond lt r k)) c (Some lt)
  | cs_else lt lf bt bf r k c : guard e lt c = false ->
      cstep e (mkpos [] (CCond lt lf bt bf r) k) c (mkpos [] bf (KCond lf r k)) c (Some lf)
  | cs_endif l r k c :
      cstep e (mkpos [] CNil (KCond l r k)) c (mkpos [] r k) (ctl e l c) None.

  Lemma cstep_needs_empty_block e p c p' c' ev : cstep e p c p' c' ev -> cur p = [].
  Proof. now destruct 1. Qed.
End Control.

(** * Erasure: from code back to the specification *)

Section Erase.
  Variables (A B : Type) (g : A -> option B).

  Fixpoint efilter (xs : list A) : list B :=
    match xs with
    | [] => []
    | x :: t => match g x with Some y => y :: efilter t | None => efilter t end
    end.

  Fixpoint ecode (c : code A) : code B :=
    match c with
    | CNil => CNil
    | CBlock f r => CBlock (map efilter f) (ecode r)
    | CLoop l b r => CLoop l (ecode b) (ecode r)
    | CCond t f bt bf r => CCond t f (ecode bt) (ecode bf) (ecode r)
    end.

  Fixpoint ekont (k : kont A) : kont B :=
    match k with
    | KStop => KStop
    | KLoop l n b r k => KLoop l n (ecode b) (ecode r) (ekont k)
    | KCond l r k => KCond l (ecode r) (ekont k)
    end.

  Definition epos (p : pos A) : pos B := mkpos (efilter (cur p)) (ecode (cod p)) (ekont (kon p)).

  Lemma efilter_nth e f : efilter (nth e f []) = nth e (map efilter f) [].
  Proof. change (@nil B) with (efilter []). now rewrite map_nth. Qed.

  Lemma trips_erased k x : trips (ekont k) x = trips k x.
  Proof. induction k; simpl; auto; destruct (_ =? _); auto. Qed.

  Lemma active_erased k : active (ekont k) = active k.
  Proof. induction k; simpl; congruence. Qed.

  Variables (C : Type) (guard : engine -> loopid -> C -> bool) (ctl : engine -> loopid -> C -> C).

  (* Control steps project to the erased position ... *)
  Lemma cstep_erase e p c p' c' ev :
    cstep guard ctl e p c p' c' ev -> cstep guard ctl e (epos p) c (epos p') c' ev.
  Proof.
    destruct 1; unfold epos; simpl; try rewrite efilter_nth; constructor; auto.
  Qed.

  (* ... and lift from it, as soon as nothing is left of the block. *)
  Lemma cstep_lift e p c q c' ev :
    cur p = [] -> cstep guard ctl e (epos p) c q c' ev ->
    exists p', cstep guard ctl e p c p' c' ev /\ epos p' = q.
  Proof.
    destruct p as [cu co k]; simpl. intros -> H. unfold epos in H; simpl in H.
    inversion H; subst; clear H;
    repeat match goal with
    | [ H : CBlock _ _ = ecode ?c |- _ ] => destruct c; simpl in H; inversion H; subst; clear H
    | [ H : CLoop _ _ _ = ecode ?c |- _ ] => destruct c; simpl in H; inversion H; subst; clear H
    | [ H : CCond _ _ _ _ _ = ecode ?c |- _ ] =>
        destruct c; simpl in H; inversion H; subst; clear H
    | [ H : CNil = ecode ?c |- _ ] => destruct c; simpl in H; inversion H; subst; clear H
    | [ H : KLoop _ _ _ _ _ = ekont ?k |- _ ] =>
        destruct k; simpl in H; inversion H; subst; clear H
    | [ H : KCond _ _ _ = ekont ?k |- _ ] => destruct k; simpl in H; inversion H; subst; clear H
    end.
    all: eexists; split; [econstructor; eauto|].
    all: unfold epos; simpl; try rewrite efilter_nth; reflexivity.
  Qed.
End Erase.

(** * What stands in a block of code *)

Inductive operand := OReg (r : reg) | OImm (n : nat).

Inductive alu := AMove | AAdd | ASub | AMul | AMin | AGt.

Record regop := mkop { dst : reg; aop : alu; opa : operand; opb : operand }.

(* A wait is a semaphore and the threshold it must have reached. *)
Definition wait : Type := sema * operand.

Inductive item :=
| Issue (i : instr) (w : option wait) (* waits, then enters its queue *)
| RegOp (o : regop)
| Wait (w : wait).                    (* waits, and nothing else *)

(* Erasing code leaves its instructions. *)
Definition instr_of (x : item) : option instr := match x with Issue i _ => Some i | _ => None end.
