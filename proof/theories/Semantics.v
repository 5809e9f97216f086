(* Semantics.v -- the specification and the implementation as transition systems

   Purpose   What "correct" means. The specification issues an instruction when its dependences are
             satisfied (the paper's equation 1, over counts of loop entries). The implementation
             issues it when a semaphore has reached a threshold. Both overlap instructions in every
             possible way.
   Paper     sections 3.2, 6.1 and 6.2, appendix A.1-A.5
   C++       Check's transition systems; Code/Code.h gives the operations their meaning
   Trusted   everything here is a definition, and part of what a reader must believe. Departures
             from the paper (queues, weights, the root entered once, more distances, optional waits)
             are listed in docs/internals/Proof.md. *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.
From Tally Require Import Syntax.

(** * Dependences *)

(* How far back the producer's run lies that a consumer needs. P is the producer's body.

   Carried S k      everything P did up to the end of the S-iteration that lies k before the current
                    one. The paper's triple; also distances over conditional levels, and the
                    conservative reading of a vector (S then is not the innermost common loop).
   Flat f           the run of the producer f runs before its latest one, over the whole run of the
                    program; both ends directly in one body.
   Element S k C back ahead
                    in the S-iteration k before the current one, the P-entry whose number is that of
                    the current iteration of C, minus back, plus ahead; the last one, if there are
                    fewer. C = P: a distance vector with components on two nested loops. *)
Inductive distance :=
| Carried (S : loopid) (k : nat)
| Flat (f : nat)
| Element (S : loopid) (k : nat) (C : loopid) (back ahead : nat).

Record dep := mkdep { prd : instr; dist : distance }.

(** * Tables: what is static about a kernel on its machine *)

Record tables := mktab {
  home : instr -> loopid;                (* the body that directly holds an instruction *)
  eng : instr -> engine;
  que : instr -> queue;
  weight : queue -> nat;                 (* what one retirement adds to a semaphore *)
  path : loopid -> list loopid;          (* a body and all around it, innermost first *)
  (* the engine's instructions directly in a body, in order *)
  body : loopid -> engine -> list instr;
  deps : instr -> list dep }.

(** * What an engine has counted *)

(* tot l       entries of l so far
   ent s i p   entries of p during the i-th entry of s (the paper's H, i counted over the whole run)
   log         every entry so far with its iteration vector, oldest first. Nothing reads it; the
               theorems on iteration vectors speak about it. *)
Record counts := mkcounts {
  tot : loopid -> nat;
  ent : loopid -> nat -> loopid -> nat;
  log : list (loopid * list nat) }.

(* The root is entered at the start. The paper starts all counts at 0, and then nothing at the top
   level is ever waited for. *)
Definition counts0 : counts := {|
  tot l := if l =? ROOT then 1 else 0;
  ent s i p := if (s =? ROOT) && (i =? 1) && (p =? ROOT) then 1 else 0;
  log := [(ROOT, [1])] |}.

(* The engine enters l and is then below k. *)
Definition enter_counts {A} (k : kont A) (l : loopid) (c : counts) : counts := {|
  tot := upd (tot c) l (tot c l + 1);
  ent s i p :=
    if existsb (Nat.eqb s) (active k) && (i =? upd (tot c) l (tot c l + 1) s) && (p =? l)
    then ent c s i p + 1 else ent c s i p;
  log := log c ++ [(l, vector k)] |}.

Definition count_event {A} (k : kont A) (ev : option loopid) (c : counts) : counts :=
  match ev with None => c | Some l => enter_counts k l c end.

Fixpoint sumH (h : nat -> loopid -> nat) (n : nat) (p : loopid) : nat :=
  match n with 0 => 0 | S m => sumH h m p + h n p end.

(* Entries of p up to the end of the s-iteration that lies m before the current one. *)
Definition past (c : counts) (s : loopid) (m : nat) (p : loopid) : nat :=
  sumH (ent c s) (tot c s - m) p.

(** * When a dependence is satisfied *)

Section Condition.
  Variable h : loopid -> nat. (* iteration numbers where the consumer is *)
  Variable c : counts.        (* what the consumer's engine has counted *)
  Variable p : loopid.        (* the producer's body *)

  (* Nothing is owed: the target lies before the first iteration. *)
  Definition unowed (x : distance) : Prop :=
    match x with
    | Carried s k => h s <= k
    | Flat f => tot c p <= f
    | Element s k b back ahead => h s <= k \/ h b + ahead <= back
    end.

  (* How often the producer must have retired. *)
  Definition needed (x : distance) : nat :=
    match x with
    | Carried s k => past c s k p
    | Flat f => tot c p - f
    | Element s k b back ahead =>
        Nat.min (past c s (k + 1) p + (h b + ahead - back)) (past c s k p)
    end.
End Condition.

Definition satisfied (T : tables) (h : loopid -> nat) (c : counts) (rc : instr -> nat) (d : dep) :=
  unowed h c (home T (prd d)) (dist d) \/ needed h c (home T (prd d)) (dist d) <= rc (prd d).

(** * Arithmetic of the implementation *)

Definition alu_nat (o : alu) (a b : nat) : nat :=
  match o with
  | AMove => a
  | AAdd => a + b
  | ASub => a - b
  | AMul => a * b
  | AMin => Nat.min a b
  | AGt => if b <? a then 1 else 0
  end.

Definition value (o : operand) (rf : reg -> nat) := match o with OReg r => rf r | OImm n => n end.

Definition exec (o : regop) (rf : reg -> nat) : reg -> nat :=
  upd rf (dst o) (alu_nat (aop o) (value (opa o) rf) (value (opb o) rf)).

(** * In flight *)

(* Issued instructions of a queue, oldest first; the flag says whether the effect has happened. *)
Definition flight := list (instr * bool).

(* The effect of the n-th one happens; effects come in any order. *)
Definition mark (x : flight) (n : nat) : option (instr * flight) :=
  match nth_error x n with
  | Some (i, false) => Some (i, firstn n x ++ (i, true) :: skipn (S n) x)
  | _ => None
  end.

(* What can be seen of a step. Control steps, register operations and wait-only operations are
   silent. *)
Inductive event := Issued (i : instr) | Committed (i : instr) | Retired (i : instr).

Section Systems.
  Variables D C : Type. (* what instructions compute on; what control decisions depend on *)
  Variable iop : instr -> D -> D.
  Variable guard : engine -> loopid -> C -> bool.
  Variable ctl : engine -> loopid -> C -> C.
  Variable T : tables.

  (** ** Specification *)

  Record sstate := mks {
    sds : D;
    scs : engine -> C;
    spos : engine -> pos instr;
    sifl : queue -> flight;
    scnt : engine -> counts;
    src : instr -> nat }. (* retirements of an instruction *)

  Definition sat (s : sstate) (e : engine) (d : dep) : Prop :=
    satisfied T (trips (kon (spos s e))) (scnt s e) (src s) d.

  Inductive sstep : sstate -> list event -> sstate -> Prop :=
  | s_issue s e i cu c k : spos s e = mkpos (i :: cu) c k ->
      (forall d, In d (deps T i) -> sat s e d) ->
      sstep s [Issued i]
        (mks (sds s) (scs s) (upd (spos s) e (mkpos cu c k))
             (upd (sifl s) (que T i) (sifl s (que T i) ++ [(i, false)])) (scnt s) (src s))
  | s_commit s q n i x : mark (sifl s q) n = Some (i, x) ->
      sstep s [Committed i]
        (mks (iop i (sds s)) (scs s) (spos s) (upd (sifl s) q x) (scnt s) (src s))
  | s_retire s q i x : sifl s q = (i, true) :: x ->
      sstep s [Retired i]
        (mks (sds s) (scs s) (spos s) (upd (sifl s) q x) (scnt s) (upd (src s) i (src s i + 1)))
  | s_ctl s e p c ev : cstep guard ctl e (spos s e) (scs s e) p c ev ->
      sstep s []
        (mks (sds s) (upd (scs s) e c) (upd (spos s) e p) (sifl s)
             (upd (scnt s) e (count_event (kon p) ev (scnt s e))) (src s)).

  (** ** Implementation *)

  Variable signals : instr -> option sema. (* what an instruction raises when it retires *)

  Record istate := mki {
    ids : D;
    ics : engine -> C;
    ipos : engine -> pos item;
    iifl : queue -> flight;
    isem : sema -> nat;
    iregs : engine -> reg -> nat }.

  Definition passes (s : istate) (e : engine) (w : wait) : Prop :=
    value (snd w) (iregs s e) <= isem s (fst w).

  Definition raise (sem : sema -> nat) (i : instr) : sema -> nat :=
    match signals i with
    | None => sem
    | Some w => upd sem w (sem w + weight T (que T i))
    end.

  Inductive istep : istate -> list event -> istate -> Prop :=
  | i_regop s e o cu c k : ipos s e = mkpos (RegOp o :: cu) c k ->
      istep s []
        (mki (ids s) (ics s) (upd (ipos s) e (mkpos cu c k)) (iifl s) (isem s)
             (upd (iregs s) e (exec o (iregs s e))))
  | i_wait s e w cu c k : ipos s e = mkpos (Wait w :: cu) c k -> passes s e w ->
      istep s []
        (mki (ids s) (ics s) (upd (ipos s) e (mkpos cu c k)) (iifl s) (isem s) (iregs s))
  | i_issue s e i w cu c k : ipos s e = mkpos (Issue i w :: cu) c k ->
      (forall x, w = Some x -> passes s e x) ->
      istep s [Issued i]
        (mki (ids s) (ics s) (upd (ipos s) e (mkpos cu c k))
             (upd (iifl s) (que T i) (iifl s (que T i) ++ [(i, false)])) (isem s) (iregs s))
  | i_commit s q n i x : mark (iifl s q) n = Some (i, x) ->
      istep s [Committed i]
        (mki (iop i (ids s)) (ics s) (ipos s) (upd (iifl s) q x) (isem s) (iregs s))
  | i_retire s q i x : iifl s q = (i, true) :: x ->
      istep s [Retired i]
        (mki (ids s) (ics s) (ipos s) (upd (iifl s) q x) (raise (isem s) i) (iregs s))
  | i_ctl s e p c ev : cstep guard ctl e (ipos s e) (ics s e) p c ev ->
      istep s []
        (mki (ids s) (upd (ics s) e c) (upd (ipos s) e p) (iifl s) (isem s) (iregs s)).

  (** ** Initial states *)

  Definition sinit (Ps : code instr) (d0 : D) (c0 : engine -> C) : sstate :=
    mks d0 c0 (fun _ => mkpos [] Ps KStop) (fun _ => []) (fun _ => counts0) (fun _ => 0).

  Definition iinit (Pi : code item) (d0 : D) (c0 : engine -> C) : istate :=
    mki d0 c0 (fun _ => mkpos [] Pi KStop) (fun _ => []) (fun _ => 0) (fun _ _ => 0).
End Systems.

Arguments mks {D C}.
Arguments sds {D C}.
Arguments scs {D C}.
Arguments spos {D C}.
Arguments sifl {D C}.
Arguments scnt {D C}.
Arguments src {D C}.
Arguments mki {D C}.
Arguments ids {D C}.
Arguments ics {D C}.
Arguments ipos {D C}.
Arguments iifl {D C}.
Arguments isem {D C}.
Arguments iregs {D C}.
Arguments sat {D C}.
Arguments passes {D C}.
Arguments sinit {D C}.
Arguments iinit {D C}.
Arguments sstep {D C}.
Arguments istep {D C}.

(** * Runs *)

(* Any number of steps, with what was seen. *)
Inductive run {St} (step : St -> list event -> St -> Prop) : St -> list event -> St -> Prop :=
| run_nil s : run step s [] s
| run_cons s a s1 tr s2 : step s a s1 -> run step s1 tr s2 -> run step s (a ++ tr) s2.

Lemma run_step {St} (step : St -> list event -> St -> Prop) a s s' : step s a s' -> run step s a s'.
Proof.
  intros H. rewrite <- (app_nil_r a). eapply run_cons; [exact H|constructor].
Qed.

Lemma run_app {St} (step : St -> list event -> St -> Prop) s a s1 b s2 :
  run step s a s1 -> run step s1 b s2 -> run step s (a ++ b) s2.
Proof.
  induction 1; auto. intros. rewrite <- app_assoc. eapply run_cons; eauto.
Qed.

Lemma run_snoc {St} (step : St -> list event -> St -> Prop) s a s1 b s2 :
  run step s a s1 -> step s1 b s2 -> run step s (a ++ b) s2.
Proof. intros. eapply run_app; eauto. now apply run_step. Qed.

(* A property of the first state that every step keeps holds along a run. *)
Lemma run_invariant {St} (step : St -> list event -> St -> Prop) (I : St -> Prop) :
  (forall s a s', I s -> step s a s' -> I s') ->
  forall s a s', run step s a s' -> I s -> I s'.
Proof. intros K s a s' R. induction R; eauto. Qed.
