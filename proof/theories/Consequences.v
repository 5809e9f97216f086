(* Consequences.v -- what the bisimulation means for whole runs

   Purpose   The two systems have the same visible runs and compute the same; the code never issues
             early; wherever the specification can go on, the code can, in the same way.
   Paper     section 6.6 (consequences)
   C++       -
   Trusted   nothing *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics Decode Expr Checker Invariant CheckerSound Bisimulation.

Section Consequences.
  Variables D C : Type.
  Variable iop : instr -> D -> D.
  Variable guard : engine -> loopid -> C -> bool.
  Variable ctl : engine -> loopid -> C -> C.
  Variable T : tables.
  Variable signals : instr -> option sema.
  Variable sites : sema -> site.
  Variables (Ps : code instr) (Pi : code item).
  Hypothesis HWF : well_formed T Ps.
  Hypothesis HR : realises T signals sites Ps Pi.
  Variables (d0 : D) (c0 : engine -> C).

  Notation sstep := (sstep iop guard ctl T).
  Notation istep := (istep iop guard ctl T signals).
  Notation matches := (match_states D C T signals sites).
  Notation s0 := (sinit Ps d0 c0).
  Notation i0 := (iinit Pi d0 c0).

  Lemma forward_run s i tr s' : matches s i -> run sstep s tr s' ->
    exists i', run istep i tr i' /\ matches s' i'.
  Proof.
    intros M R. revert i M. induction R; intros i M.
    - exists i. split; [constructor|auto].
    - destruct (forward _ _ _ _ _ _ _ _ _ _ HR _ _ _ _ M H) as (i1 & i2 & R1 & S2 & M2).
      destruct (IHR _ M2) as (i3 & R3 & M3). exists i3. split; auto.
      change (a ++ tr) with ([] ++ a ++ tr). eapply run_app; eauto. eapply run_cons; eauto.
  Qed.

  Lemma backward_run s i tr i' : matches s i -> run istep i tr i' ->
    exists s', run sstep s tr s' /\ matches s' i'.
  Proof.
    intros M R. revert s M. induction R as [|i a i1 tr i2 S1 R IH]; intros s' M.
    - exists s'. split; [constructor|auto].
    - destruct (backward _ _ iop guard ctl _ _ _ _ _ HR _ _ _ _ M S1) as (s1 & R1 & M1).
      destruct (IH _ M1) as (s2 & R2 & M2). exists s2. split; auto. eapply run_app; eauto.
  Qed.

  (* Every run of the code is matched by one of the specification. *)
  Lemma code_run_matched tr i : run istep i0 tr i -> exists s, run sstep s0 tr s /\ matches s i.
  Proof. intros R. eapply backward_run; eauto. now apply match_initial. Qed.

  Lemma spec_run_matched tr s : run sstep s0 tr s -> exists i, run istep i0 tr i /\ matches s i.
  Proof. intros R. eapply forward_run; eauto. now apply match_initial. Qed.

  Theorem same_traces tr d :
    (exists s, run sstep s0 tr s /\ sds s = d) <-> (exists i, run istep i0 tr i /\ ids i = d).
  Proof.
    split.
    - intros (s & R & <-). destruct (spec_run_matched _ _ R) as (i & Ri & M).
      exists i. split; auto. symmetry. apply (m_data _ _ _ _ _ _ _ M).
    - intros (i & R & <-). destruct (code_run_matched _ _ R) as (s & Rs & M).
      exists s. split; auto. apply (m_data _ _ _ _ _ _ _ M).
  Qed.

  Theorem issues_only_when_satisfied tr i j i' :
    run istep i0 tr i -> istep i [Issued j] i' ->
    exists s, run sstep s0 tr s /\ sds s = ids i /\
      forall d, In d (deps T j) -> sat T s (eng T j) d.
  Proof.
    intros R St. destruct (code_run_matched _ _ R) as (s & Rs & M).
    exists s. split; auto. split; [apply (m_data _ _ _ _ _ _ _ M)|].
    inversion St as [| |x e j1 w cu c k Hp Hw| | |]; subst.
    pose proof (proj2 (issue_agrees D C T signals sites Ps Pi HR _ _ _ _ _ _ _ _ M Hp) Hw) as WA.
    pose proof (m_wf _ _ _ _ _ _ _ M e) as (_ & _ & W).
    rewrite (m_pos _ _ _ _ _ _ _ M e), Hp in W. simpl in W.
    destruct (W j (or_introl eq_refl)) as [_ He]. now rewrite He.
  Qed.

  Theorem goes_on_as_specified tr i : run istep i0 tr i ->
    exists s, run sstep s0 tr s /\ sds s = ids i /\
      forall tr' s', run sstep s tr' s' -> exists i', run istep i tr' i' /\ ids i' = sds s'.
  Proof.
    intros R. destruct (code_run_matched _ _ R) as (s & Rs & M).
    exists s. split; auto. split; [apply (m_data _ _ _ _ _ _ _ M)|].
    intros tr' s' R'. destruct (forward_run _ _ _ _ M R') as (i' & Ri & M').
    exists i'. split; auto. symmetry. apply (m_data _ _ _ _ _ _ _ M').
  Qed.

  (* A state of the code without a step is matched only by specification states without one. *)
  Theorem stuck_only_if_specified tr i : run istep i0 tr i -> (forall a i', ~ istep i a i') ->
    exists s, run sstep s0 tr s /\ matches s i /\ forall a s', ~ sstep s a s'.
  Proof.
    intros R N. destruct (code_run_matched _ _ R) as (s & Rs & M).
    exists s. split; auto. split; auto. intros a s' St.
    destruct (forward _ _ _ _ _ _ _ _ _ _ HR _ _ _ _ M St) as (i1 & i2 & R1 & S2 & _).
    inversion R1; subst; eapply N; eauto.
  Qed.
End Consequences.
