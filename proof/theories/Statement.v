(* Statement.v -- what is claimed

   Purpose   The theorems of Main.v as propositions, in the words of Syntax.v and Semantics.v.
             Whoever believes those two files and understands this one need read no proof.
   Paper     theorem 1 and its consequences (sections 6.4-6.6), and what goes beyond them
   C++       [certify] is what decides about a compiled kernel
   Trusted   the definitions here, in Syntax.v, in Semantics.v, and in Certificate.v the record
             [cert] and [tables_of], which reads the tables off a kernel *)

From Coq Require Import List Arith Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics Certificate.

(** * The two systems of a certificate *)

Section Systems.
  Variable c : cert.
  Variables D C : Type.                          (* data; control state *)
  Variable iop : instr -> D -> D.                (* what instructions compute *)
  Variable guard : engine -> loopid -> C -> bool. (* whether a body is entered *)
  Variable ctl : engine -> loopid -> C -> C.     (* what leaving one changes *)
  Variable d0 : D.
  Variable c0 : engine -> C.

  Definition spec_step := sstep iop guard ctl (tables_of c).
  Definition code_step := istep iop guard ctl (tables_of c) (signals_of c).

  (* The specification reaches s, and tr is what was seen. *)
  Definition spec_reaches (tr : list event) (s : sstate D C) : Prop :=
    run spec_step (sinit (c_spec c) d0 c0) tr s.

  Definition code_reaches (tr : list event) (i : istate D C) : Prop :=
    run code_step (iinit (c_code c) d0 c0) tr i.

  (* All dependences of an instruction are satisfied for the engine that runs it. *)
  Definition may_issue (s : sstate D C) (j : instr) : Prop :=
    forall d, In d (deps (tables_of c) j) -> sat (tables_of c) s (eng (tables_of c) j) d.

  (** ** Bisimilarity *)

  (* A relation between states that holds at the start, implies equal data, and is kept by every
     step of either side: the other side answers with steps that show the same events. *)
  Definition bisimilar : Prop := exists R : sstate D C -> istate D C -> Prop,
    R (sinit (c_spec c) d0 c0) (iinit (c_code c) d0 c0) /\
    (forall s i, R s i -> sds s = ids i) /\
    (forall s i a s', R s i -> spec_step s a s' -> exists i', run code_step i a i' /\ R s' i') /\
    (forall s i a i', R s i -> code_step i a i' -> exists s', run spec_step s a s' /\ R s' i').

  (** ** What it means for runs *)

  (* The same sequences of issues, effects and retirements, with the same results. *)
  Definition same_behaviour : Prop := forall tr d,
    (exists s, spec_reaches tr s /\ sds s = d) <-> (exists i, code_reaches tr i /\ ids i = d).

  (* Safety: the code issues nothing whose dependences are not satisfied. *)
  Definition never_early : Prop := forall tr i j i',
    code_reaches tr i -> code_step i [Issued j] i' ->
    exists s, spec_reaches tr s /\ sds s = ids i /\ may_issue s j.

  (* Liveness relative to the specification: from wherever the code is, it can still do all that
     the specification can do from there. *)
  Definition never_late : Prop := forall tr i, code_reaches tr i ->
    exists s, spec_reaches tr s /\ sds s = ids i /\
      forall tr' s', run spec_step s tr' s' ->
        exists i', run code_step i tr' i' /\ ids i' = sds s'.

  (** ** Deadlock *)

  (* All engines take every control decision alike. *)
  Definition engines_agree : Prop :=
    (forall e e' l x, guard e l x = guard e' l x) /\
    (forall e e' l x, ctl e l x = ctl e' l x) /\
    (forall e e', c0 e = c0 e').

  Definition spec_finished (s : sstate D C) : Prop :=
    (forall e, spos s e = mkpos [] CNil KStop) /\ (forall q, sifl s q = []).

  Definition code_finished (i : istate D C) : Prop :=
    (forall e, ipos i e = mkpos [] CNil KStop) /\ (forall q, iifl i q = []).

  (* A state without a step is one in which all is done. *)
  Definition spec_deadlock_free : Prop := engines_agree -> forall tr s,
    spec_reaches tr s -> (forall a s', ~ spec_step s a s') -> spec_finished s.

  Definition code_deadlock_free : Prop := engines_agree -> forall tr i,
    code_reaches tr i -> (forall a i', ~ code_step i a i') -> code_finished i.
End Systems.

(** * The claims, for all that the certificate leaves open *)

Section Claims.
  Variable c : cert.

  Definition for_all_machines
      (P : forall D C, (instr -> D -> D) -> (engine -> loopid -> C -> bool) ->
           (engine -> loopid -> C -> C) -> D -> (engine -> C) -> Prop) : Prop :=
    forall D C iop guard ctl d0 c0, P D C iop guard ctl d0 c0.

  Definition realises_its_kernel : Prop := for_all_machines (bisimilar c).
  Definition behaves_as_specified : Prop := for_all_machines (same_behaviour c).
  Definition is_safe : Prop := for_all_machines (never_early c).
  Definition adds_no_waiting : Prop := for_all_machines (never_late c).
  Definition kernel_cannot_deadlock : Prop := for_all_machines (spec_deadlock_free c).
  Definition code_cannot_deadlock : Prop := for_all_machines (code_deadlock_free c).
End Claims.
