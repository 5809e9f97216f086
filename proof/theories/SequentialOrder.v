(* SequentialOrder.v -- engines that agree on control flow walk one common path

   Purpose   Under agreement the position of an engine is a number: the control steps it has made.
             Of two engines, the one with the smaller number is where the other one was. This file
             relates an engine's position, its counts and what is left of each body along that path.
   Paper     section 6.5 says what happens without agreement; this is what holds with it
   C++       -
   Trusted   the definition of [agreement] *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics Decode Expr Checker Invariant Legality Vectors.

(* All engines take every decision alike. *)
Definition agreement {C} (guard : engine -> loopid -> C -> bool) (ctl : engine -> loopid -> C -> C)
    (c0 : engine -> C) : Prop :=
  (forall e e' l c, guard e l c = guard e' l c) /\
  (forall e e' l c, ctl e l c = ctl e' l c) /\
  (forall e e', c0 e = c0 e').

(** * Counts of the current iteration *)

(* The current iteration of s has entered each active body inside it at least as often as that
   body's current trip has. *)
Definition now_counted {A} (T : tables) (k : kont A) (c : counts) : Prop :=
  forall s p, In s (active k) -> In p (active k) -> In s (path T p) -> s <> p ->
    trips k p <= ent c s (tot c s) p.

Section Path.
  Variable T : tables.

  Lemma path_of_active e k p : wfk T e k -> path T ROOT = [ROOT] -> In p (active k) ->
    incl (path T p) (active k).
  Proof.
    intros W HR. revert W. induction k; cbn [wfk active]; intros W Hp.
    - destruct Hp as [<-|[]]. rewrite HR. apply incl_refl.
    - destruct W as (((_ & H & _) & _) & _ & _ & W). destruct Hp as [<-|Hp].
      + rewrite H. apply incl_refl.
      + apply incl_tl. auto.
    - destruct W as (_ & H & _ & W). destruct Hp as [<-|Hp].
      + rewrite H. apply incl_refl.
      + apply incl_tl. auto.
  Qed.

  Variable C : Type.
  Variables (guard : engine -> loopid -> C -> bool) (ctl : engine -> loopid -> C -> C).

  (* Nothing of a body is left when it is entered. *)
  Lemma rem_empty_at_entry e p c p' c' l :
    cstep guard ctl e p c p' c' (Some l) -> wfp T e p -> rem e l p = [].
  Proof.
    intros St W. unfold wfp in W.
    inversion St; subst; cbn [kon cod wfk wfc] in W.
    - apply rem_outside. apply W.
    - unfold rem. cbn [cur cod kon remk]. rewrite owner_loop, Nat.eqb_refl. simpl.
      destruct W as (((H1 & _) & _) & _). destruct H1 as [H1 _].
      now rewrite remk_outside, owner_other.
    - apply rem_outside. apply W.
    - apply rem_outside. apply W.
  Qed.

  (* An entered body lies inside no other active one. *)
  Lemma entered_innermost e p c p' c' l x : cstep guard ctl e p c p' c' (Some l) -> wfp T e p ->
    path T ROOT = [ROOT] -> In x (active (kon p')) -> x <> l -> ~ In l (path T x).
  Proof.
    intros St W HR Hx N Hl.
    assert (K : forall k, wfk T e k -> ~ In l (active k) -> In x (active k) -> False).
    { intros k Wk NI Hx'. apply NI. eapply path_of_active; eauto. }
    unfold wfp in W. inversion St; subst; cbn [kon cod wfk wfc active] in *;
      (destruct Hx as [<-|Hx]; [congruence|]).
    - apply (K k); auto; apply W.
    - apply (K k); auto; apply W.
    - apply (K k); auto; apply W.
    - apply (K k); auto; apply W.
  Qed.

  Lemma now_counted_step e p c p' c' ev n : cstep guard ctl e p c p' c' ev -> wfp T e p ->
    path T ROOT = [ROOT] -> HI T n (active (kon p)) ->
    now_counted T (kon p) n -> now_counted T (kon p') (count_event (kon p') ev n).
  Proof.
    intros St W HR H N. destruct ev as [l|]; cbn [count_event].
    - destruct (entered_body _ _ _ _ _ _ _ _ _ _ St W) as (NR & HP & Hl & Hin & _).
      pose proof (trips_on_entry _ _ _ _ _ _ _ _ _ _ St W) as HT.
      intros s q Hs Hq Hp NE.
      assert (Ns : s <> l).
      { intros ->. destruct (Nat.eq_dec q l) as [->|Nq]; [congruence|].
        exact (entered_innermost _ _ _ _ _ _ _ St W HR Hq Nq Hp). }
      rewrite HT. pose proof (tot_not_entered _ (kon p') l n s Ns) as TS.
      assert (Hs0 : In s (active (kon p))) by (destruct (Hin s Hs); [congruence|auto]).
      destruct (Nat.eqb_spec q l) as [->|Nq].
      + pose proof (ent_entered _ (kon p') l n s Hs) as X. rewrite TS in *. rewrite X.
        destruct (in_dec Nat.eq_dec l (active (kon p))) as [I|I].
        * specialize (N s l Hs0 I Hp NE). lia.
        * rewrite (trips_outside T e (kon p) l (proj1 W) I). lia.
      + rewrite ent_not_entered by (right; auto). rewrite TS.
        apply N; auto. destruct (Hin q Hq); [congruence|auto].
    - intros s q Hs Hq Hp NE.
      pose proof (no_entry_no_new_body _ _ _ _ _ _ _ _ St) as Sub.
      specialize (N s q (Sub _ Hs) (Sub _ Hq) Hp NE).
      enough (E : trips (kon p') q = trips (kon p) q) by (rewrite E; auto).
      unfold wfp in W. inversion St; subst; cbn [kon cod wfk active trips] in *; auto;
        (destruct (Nat.eqb_spec q l) as [E|E]; [exfalso; rewrite E in Hq; revert Hq; apply W|auto]).
  Qed.
End Path.

(** * The walk of one engine *)

Section Walk.
  Variable T : tables.
  Variable C : Type.
  Variables (guard : engine -> loopid -> C -> bool) (ctl : engine -> loopid -> C -> C).
  Variable Ps : code instr.
  Variable c0 : engine -> C.

  Notation walk := (walk C guard ctl Ps c0).

  Hypothesis HWF : well_formed T Ps.

  Record walk_invariant (e : engine) (p : pos instr) (m : counts) : Prop := {
    wi_wf : wfp T e p;
    wi_counts : HI T m (active (kon p));
    wi_now : now_counted T (kon p) m }.

  Lemma walk_keeps e n p c m : walk e n p c m -> walk_invariant e p m.
  Proof.
    induction 1 as [|n i cu co k c m W [IW IH IN]|n p c m p' c' ev W [IW IH IN] St].
    - destruct HWF as [HP HW]. destruct (HW e). constructor.
      + repeat split; auto; contradiction.
      + now apply HI_initial.
      + intros s q [<-|[]] [<-|[]]. congruence.
    - constructor; auto. destruct IW as (W1 & W2 & W3). split; auto. split; auto.
      intros x Hx. apply W3. now right.
    - constructor.
      + eapply wfp_step; eauto.
      + destruct ev as [l|]; cbn [count_event].
        * destruct (entered_body _ _ _ _ _ _ _ _ _ _ St IW) as (F1 & F2 & F3 & F4 & _).
          eapply HI_enter; eauto.
        * eapply HI_weaken; eauto. eapply no_entry_no_new_body; eauto.
      + eapply now_counted_step; eauto. apply HWF.
  Qed.

  Lemma tot_grows {A} (k : kont A) ev m l : tot m l <= tot (count_event k ev m) l.
  Proof.
    destruct ev as [x|]; simpl; auto. unfold upd. destruct (Nat.eqb_spec l x); subst; lia.
  Qed.

  (* What is left of a body now was left of it at every earlier step since its last entry. *)
  Lemma left_earlier e n p c m : walk e n p c m -> forall n', n' < n ->
    exists p' c' m', walk e n' p' c' m' /\ cur p' = [] /\
      forall l, tot m' l <= tot m l /\
        (tot m' l = tot m l -> incl (rem e l p) (rem e l p')).
  Proof.
    induction 1 as [|n i cu co k c m W IH|n p c m p' c' ev W IH St]; intros n' L.
    - lia.
    - destruct (IH n' L) as (q & d & r & Wq & Cq & R). exists q, d, r. split; auto. split; auto.
      intros l. destruct (R l) as [R1 R2]. split; auto. intros E x Hx. apply R2; auto.
      unfold rem in *. cbn [cur cod kon] in *. destruct (owner k =? l); auto. simpl. now right.
    - pose proof (cstep_needs_empty_block St) as CE.
      pose proof (walk_keeps _ _ _ _ _ W) as [IW _ _].
      pose proof (fun l => rem_step T _ _ _ _ _ _ _ _ _ l St IW) as RS.
      assert (K : forall l, tot (count_event (kon p') ev m) l = tot m l ->
                            rem e l p' = rem e l p).
      { intros l E. rewrite RS. destruct ev as [x|]; auto.
        destruct (Nat.eqb_spec l x) as [->|]; auto. simpl in E. rewrite upd_eq in E. lia. }
      destruct (Nat.eq_dec n' n) as [->|N].
      + exists p, c, m. split; auto. split; auto. intros l.
        pose proof (tot_grows (kon p') ev m l). split; auto. intros E. rewrite K by auto.
        apply incl_refl.
      + destruct (IH n' ltac:(lia)) as (q & d & r & Wq & Cq & R). exists q, d, r.
        split; auto. split; auto. intros l. destruct (R l) as [R1 R2].
        pose proof (tot_grows (kon p') ev m l). split; [lia|]. intros E.
        rewrite K by lia. apply R2. lia.
  Qed.

  (* What control does is determined. *)
  Lemma walk_determined e n p c m : walk e n p c m -> forall p' c' m', walk e n p' c' m' ->
    cod p = cod p' /\ kon p = kon p' /\ c = c' /\ m = m'.
  Proof.
    intros W.
    induction W as [|n i cu co k c m W IH|n p c m p1 c1 ev W IH St];
      intros p' c' m' W'.
    - remember 0 as z. induction W'; auto; discriminate.
    - apply IH in W'. exact W'.
    - remember (S n) as z. induction W' as [|z i cu co k c' m' W' IH'|z q d r q' d' ev' W' _ St'].
      + discriminate.
      + apply IH' in Heqz. exact Heqz.
      + inversion Heqz; subst z. destruct (IH _ _ _ W') as (E1 & E2 & -> & ->).
        pose proof (cstep_needs_empty_block St) as CE.
        pose proof (cstep_needs_empty_block St') as CE'.
        destruct p as [cu1 co1 k1], q as [cu2 co2 k2]. simpl in *. subst.
        inversion St; subst; inversion St'; subst; simpl; repeat split; congruence.
  Qed.

  Lemma tot_grows_along e n p c m : walk e n p c m -> forall n', n' <= n ->
    forall p' c' m', walk e n' p' c' m' -> forall l, tot m' l <= tot m l.
  Proof.
    intros W n' L p' c' m' W' l. destruct (Nat.eq_dec n' n) as [->|N].
    - destruct (walk_determined _ _ _ _ _ W _ _ _ W') as (_ & _ & _ & ->). auto.
    - destruct (left_earlier _ _ _ _ _ W n' ltac:(lia)) as (q & d & r & Wq & _ & R).
      destruct (walk_determined _ _ _ _ _ W' _ _ _ Wq) as (_ & _ & _ & ->). apply R.
  Qed.
End Walk.

(** * Two engines *)

Section Agree.
  Variable C : Type.
  Variables (guard : engine -> loopid -> C -> bool) (ctl : engine -> loopid -> C -> C).
  Variable Ps : code instr.
  Variable c0 : engine -> C.
  Hypothesis HA : agreement guard ctl c0.
  Notation walk := (walk C guard ctl Ps c0).

  (* After equally many control steps, engines are at the same place with the same counts. *)
  Theorem same_step_same_place e n p c m : walk e n p c m ->
      forall e' p' c' m', walk e' n p' c' m' ->
    cod p = cod p' /\ kon p = kon p' /\ c = c' /\ m = m'.
  Proof.
    destruct HA as (HG & HC & H0). intros W.
    induction W as [|n i cu co k c m W IH|n p c m p1 c1 ev W IH St]; intros e' p' c' m' W'.
    - remember 0 as z. induction W'; auto; discriminate.
    - apply IH in W'. exact W'.
    - remember (S n) as z. induction W' as [|z i cu co k c' m' W' IH'|z q d r q' d' ev' W' _ St'].
      + discriminate.
      + apply IH' in Heqz. exact Heqz.
      + inversion Heqz; subst z. destruct (IH _ _ _ _ W') as (E1 & E2 & -> & ->).
        pose proof (cstep_needs_empty_block St) as CE.
        pose proof (cstep_needs_empty_block St') as CE'.
        destruct p as [cu1 co1 k1], q as [cu2 co2 k2]. simpl in *. subst.
        destruct St; inversion St'; subst; simpl in *;
          repeat match goal with
          | [ X : guard e ?l ?c = _ |- _ ] => rewrite (HG e e' l c) in X
          | [ |- context [ctl e ?l ?c] ] => rewrite (HC e e' l c)
          | [ X : context [ctl e ?l ?c] |- _ ] => rewrite (HC e e' l c) in X
          end; repeat split; congruence.
  Qed.

  (* An engine at the end of its code is behind nobody. *)
  Lemma finished_is_last e n p c m : walk e n p c m -> cod p = CNil -> kon p = KStop ->
    forall e' n' p' c' m', walk e' n' p' c' m' -> n' <= n.
  Proof.
    intros W E1 E2 e' n' p' c' m' W'.
    destruct (le_lt_dec n' n) as [L|L]; auto. exfalso.
    induction W' as [|n' i cu co k c' m' W' IH|n' q d r q' d' ev W' IH St].
    - lia.
    - auto.
    - destruct (Nat.eq_dec n' n) as [->|N]; [|apply IH; lia].
      destruct (same_step_same_place _ _ _ _ _ W _ _ _ _ W') as (F1 & F2 & _).
      destruct q as [cu co k]. simpl in *. rewrite E1, E2 in *. subst. inversion St.
  Qed.
End Agree.
