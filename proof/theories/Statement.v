(* Statement.v -- what is claimed

   Purpose   The theorems of Main.v as propositions, in the words of Syntax.v and Semantics.v.
             Whoever believes those two files and understands this one need read no proof.
   Paper     theorem 1 and its consequences (sections 6.4-6.6), and what goes beyond them
   C++       [certify] is what decides about a compiled kernel
   Trusted   the definitions here, in Syntax.v and Semantics.v, in Vectors.v, Words.v and Skip.v
             those that are used here, and in Certificate.v the record [cert] and [tables_of],
             which reads the tables off a kernel *)

From Coq Require Import List Arith Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics Vectors Words Skip Certificate Fits Execute.

(* How often an instruction has retired, as seen. *)
Definition retirements (i : instr) (tr : list event) : nat :=
  count_if (fun a => match a with Retired j => j =? i | _ => false end) tr.

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

  (** ** What a satisfied dependence means *)

  (* The condition, which speaks of counts, is the paper's equation 1 on iteration vectors, and for
     the distances that the paper does not have, the same with other targets ([unless_unowed]). *)
  Definition condition_on_vectors : Prop := forall tr s e j cu co k d,
    spec_reaches tr s -> spos s e = mkpos (j :: cu) co k -> In d (deps (tables_of c) j) ->
    let m := scnt s e in
    let q := home (tables_of c) (prd d) in
    (sat (tables_of c) s e d <->
     unless_unowed (tables_of c) k m q (dist d)
       (fun g => asked (tables_of c) m q g <= retirements (prd d) tr)).

  Definition control := walk C guard ctl (c_spec c) c0.

  (* If q lies directly in s, a target that counts elements within an iteration of s is a vector,
     too, and equation 1 says the same. *)
  Definition elements_on_vectors : Prop := forall e n x y m q s t i,
    control e n x y m -> directly_in (tables_of c) q s -> length t = depth (tables_of c) s ->
    asked (tables_of c) m q (UpToElement s t i) = entries_up_to (tables_of c) m q q (t ++ [i]).

  (* The engine of p has no runs of p up to target g, at any time, beyond those that have retired.
     Runs of one instruction retire in the order of its body's entries. *)
  Definition all_retired (tr : list event) (p : instr) (g : target) : Prop :=
    forall n x y m, control (eng (tables_of c) p) n x y m ->
      asked (tables_of c) m (home (tables_of c) p) g <= retirements p tr.

  (* Engines enter body q alike. *)
  Definition same_entries (q : loopid) (e e' : engine) : Prop :=
    enters_alike C guard ctl (c_spec c) c0 q e e' /\
    enters_alike C guard ctl (c_spec c) c0 q e' e.

  (* If the engines of both ends enter the producer's body alike, a dependence is satisfied exactly
     when all runs of the producer up to the target have retired. *)
  Definition condition_on_runs : Prop := forall tr s e j cu co k d,
    spec_reaches tr s -> spos s e = mkpos (j :: cu) co k -> In d (deps (tables_of c) j) ->
    same_entries (home (tables_of c) (prd d)) e (eng (tables_of c) (prd d)) ->
    (sat (tables_of c) s e d <->
     unless_unowed (tables_of c) k (scnt s e) (home (tables_of c) (prd d)) (dist d)
       (all_retired tr (prd d))).

  (* The code issues an instruction only when all runs that its dependences ask for have retired;
     k is where it is issued, and m what control has counted there. *)
  Definition code_has_its_data : Prop := forall tr i j i',
    code_reaches tr i -> code_step i [Issued j] i' ->
    exists n cu co k y m,
      epos instr_of (ipos i (eng (tables_of c) j)) = mkpos (j :: cu) co k /\
      control (eng (tables_of c) j) n (mkpos (j :: cu) co k) y m /\
      forall d, In d (deps (tables_of c) j) ->
        same_entries (home (tables_of c) (prd d)) (eng (tables_of c) j)
                     (eng (tables_of c) (prd d)) ->
        unless_unowed (tables_of c) k m (home (tables_of c) (prd d)) (dist d)
          (all_retired tr (prd d)).

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

  (** ** A machine whose numbers wrap around *)

  Variable M : nat. (* 2^bits *)

  Definition word_step := wstep M iop guard ctl (tables_of c) (signals_of c).

  Definition word_reaches (tr : list event) (w : istate D C) : Prop :=
    run word_step (iinit (c_code c) d0 c0) tr w.

  (* On the unbounded machine, semaphores stay below M, and so does what waits read and all that it
     was computed from, except differences that a factor 0 has removed. *)
  Definition fits : Prop :=
    numbers_fit M iop guard ctl (tables_of c) (signals_of c) (iinit (c_code c) d0 c0).

  (* Engines enter body l at most B l times. *)
  Definition entries_at_most (B : loopid -> nat) : Prop := forall e n x y m l,
    control e n x y m -> tot m l <= B l.

  Definition semaphores_at_most : Prop := forall B, entries_at_most B -> forall tr i w,
    code_reaches tr i -> isem i w <= most_of B c w.

  (* [code_fits] is decided by following the code. *)
  Definition followed_code_fits : Prop := forall B, entries_at_most B ->
    code_fits M B c = true -> fits.

  Definition words_same_behaviour : Prop := 2 <= M -> fits -> forall tr d,
    (exists s, spec_reaches tr s /\ sds s = d) <-> (exists w, word_reaches tr w /\ ids w = d).

  Definition words_deadlock_free : Prop := 2 <= M -> fits -> engines_agree -> forall tr w,
    word_reaches tr w -> (forall a w', ~ word_step w a w') -> code_finished w.

  (** ** Steps that are computed, as in replays *)

  (* What [spec_does] computes is what may happen; [code_does] likewise, on the machine of M. *)
  Definition steps_are_computed : Prop :=
    (forall s a s', spec_step s a s' <->
       exists x, spec_does iop guard ctl (tables_of c) s x = Some (a, s')) /\
    (forall w a w', word_step w a w' <->
       exists x, code_does iop guard ctl (tables_of c) (signals_of c) M w x = Some (a, w')).

  (** ** Loops that an engine leaves out *)

  Variable skips : engine -> loopid -> bool. (* where nothing inside is for the engine *)

  (* Control states that differ at most in what the loops left out look at. *)
  Variable alike : engine -> C -> C -> Prop.

  Definition leaves_out_nothing_else : Prop :=
    (forall e, only_silent skips e (c_code c) = true) /\
    blind guard ctl skips alike /\ walks_through guard ctl skips alike.

  (* The code without these loops, on a machine whose numbers wrap around at M; for M = 0 they have
     no bound. *)
  Definition lean_step := skip_step M iop guard ctl (tables_of c) (signals_of c) skips.

  Definition lean_reaches (tr : list event) (i : istate D C) : Prop :=
    run lean_step (iinit (c_code c) d0 c0) tr i.

  (* What it does, the kernel allows, and it cannot get stuck. *)
  Definition lean_code_is_safe : Prop := leaves_out_nothing_else -> M = 0 \/ 2 <= M /\ fits ->
    forall tr i, lean_reaches tr i -> exists s, spec_reaches tr s /\ sds s = ids i.

  Definition lean_code_deadlock_free : Prop := leaves_out_nothing_else ->
    M = 0 \/ 2 <= M /\ fits -> engines_agree -> forall tr i,
    lean_reaches tr i -> (forall a i', ~ lean_step i a i') -> code_finished i.
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
  Definition says_equation_1 : Prop := for_all_machines (condition_on_vectors c).
  Definition says_runs_have_retired : Prop := for_all_machines (condition_on_runs c).
  Definition has_its_data : Prop := for_all_machines (code_has_its_data c).
  Definition kernel_cannot_deadlock : Prop := for_all_machines (spec_deadlock_free c).
  Definition code_cannot_deadlock : Prop := for_all_machines (code_deadlock_free c).
  Definition is_replayed_as_it_runs : Prop := for_all_machines
    (fun D C iop guard ctl _ _ => forall M, steps_are_computed c D C iop guard ctl M).
  Definition may_leave_out_loops : Prop := for_all_machines
    (fun D C iop guard ctl d0 c0 => forall M skips alike,
       lean_code_is_safe c D C iop guard ctl d0 c0 M skips alike).
  Definition cannot_deadlock_without_loops : Prop := for_all_machines
    (fun D C iop guard ctl d0 c0 => forall M skips alike,
       lean_code_deadlock_free c D C iop guard ctl d0 c0 M skips alike).
  Definition says_equation_1_for_elements : Prop := for_all_machines
    (fun _ C _ guard ctl _ c0 => elements_on_vectors c C guard ctl c0).
  Definition has_bounded_semaphores : Prop := for_all_machines (semaphores_at_most c).
  Definition fits_if_followed : Prop := for_all_machines
    (fun D C iop guard ctl d0 c0 => forall M, followed_code_fits c D C iop guard ctl d0 c0 M).
  Definition behaves_as_specified_on_words : Prop := for_all_machines
    (fun D C iop guard ctl d0 c0 => forall M, words_same_behaviour c D C iop guard ctl d0 c0 M).
  Definition cannot_deadlock_on_words : Prop := for_all_machines
    (fun D C iop guard ctl d0 c0 => forall M, words_deadlock_free c D C iop guard ctl d0 c0 M).
End Claims.
