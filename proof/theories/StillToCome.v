(* StillToCome.v -- what an engine can still enter, and that it comes later

   Purpose   The bodies that control may enter before it enters or leaves a body around it, and that
             whatever is entered later has a vector after those of what was entered before.
   Paper     -
   C++       -
   Trusted   nothing *)

From Coq Require Import List Arith Lia Bool Sorted.
Import ListNotations.
From Tally Require Import Syntax Semantics Decode Expr Checker Invariant CheckerSound Bisimulation.
From Tally Require Import Legality Vectors SequentialOrder DeadlockFree VectorInvariant Adequacy.

(** * More of the order *)

Lemma lex_lt_not_le a : forall b, lex_lt a b = true -> lex_le b a = false.
Proof.
  induction a as [|x a IH]; destruct b as [|y b]; simpl; intros H; try discriminate.
  apply orb_true_iff in H. apply orb_false_iff. destruct H as [H|H].
  - apply Nat.ltb_lt in H. split; [apply Nat.ltb_ge; lia|].
    apply andb_false_iff. left. apply Nat.eqb_neq. lia.
  - apply andb_true_iff in H as [E H]. apply Nat.eqb_eq in E. subst.
    split; [apply Nat.ltb_irrefl|]. apply andb_false_iff. right. auto.
Qed.

Lemma lex_le_not_lt a : forall b, lex_le a b = true -> lex_lt b a = false.
Proof.
  induction a as [|x a IH]; destruct b as [|y b]; simpl; intros H; try discriminate; auto.
  apply orb_true_iff in H. apply orb_false_iff. destruct H as [H|H].
  - apply Nat.ltb_lt in H. split; [apply Nat.ltb_ge; lia|].
    apply andb_false_iff. left. apply Nat.eqb_neq. lia.
  - apply andb_true_iff in H as [E H]. apply Nat.eqb_eq in E. subst.
    split; [apply Nat.ltb_irrefl|]. apply andb_false_iff. right. auto.
Qed.

Lemma lex_lt_le a : forall b, lex_lt a b = true -> lex_le a b = true.
Proof.
  induction a as [|x a IH]; destruct b as [|y b]; simpl; intros H; try discriminate; auto.
  apply orb_true_iff in H. apply orb_true_iff. destruct H as [H|H]; auto. right.
  apply andb_true_iff in H as [-> H]. simpl. auto.
Qed.

Lemma lex_lt_trans a b c : lex_lt a b = true -> lex_lt b c = true -> length a = length b ->
  lex_lt a c = true.
Proof. intros H1 H2 L. eapply lex_lt_trans_le; eauto. now apply lex_lt_le. Qed.

Lemma lex_lt_neq a b : lex_lt a b = true -> vec_eqb b a = false.
Proof.
  intros H. destruct (vec_eqb b a) eqn:E; auto. apply vec_eqb_eq in E. subst.
  now rewrite lex_lt_irrefl in H.
Qed.

Lemma lex_lt_neq_sym a b : lex_lt a b = true -> vec_eqb a b = false.
Proof.
  intros H. destruct (vec_eqb a b) eqn:E; auto. apply vec_eqb_eq in E. subst.
  now rewrite lex_lt_irrefl in H.
Qed.

(** * What can still be entered in the current iteration *)

(* Bodies strictly inside s that control may enter before it enters or leaves s. *)
Fixpoint still_around (s : loopid) (k : kont instr) : list loopid :=
  match k with
  | KStop => []
  | KLoop l _ b r k => if l =? s then [] else l :: loops_of b ++ loops_of r ++ still_around s k
  | KCond l r k => if l =? s then [] else loops_of r ++ still_around s k
  end.

Definition still_inside (s : loopid) (p : pos instr) : list loopid :=
  loops_of (cod p) ++ still_around s (kon p).

Section Later.
  Variable T : tables.
  Variable C : Type.
  Variables (guard : engine -> loopid -> C -> bool) (ctl : engine -> loopid -> C -> C).

  Lemma still_inside_step e p c p' c' ev s : cstep guard ctl e p c p' c' ev -> wfp T e p ->
    In s (active (kon p')) -> ev <> Some s ->
    incl (still_inside s p') (still_inside s p) /\
    (forall l, ev = Some l -> In l (still_inside s p)).
  Proof.
    intros St W Hs NE. unfold wfp in W. unfold still_inside.
    destruct St; cbn [cod kon still_around loops_of active wfk wfc] in *; unfold wf_body in *;
      try (destruct (Nat.eqb_spec l s) as [->|N]; [exfalso; congruence || tauto|]);
      try (destruct (Nat.eqb_spec lt s) as [->|N]; [congruence|]);
      try (destruct (Nat.eqb_spec lf s) as [->|N]; [congruence|]);
      (split; [intros x Hx|intros x E; inversion E; subst]; clear W NE;
       repeat first [rewrite in_app_iff in * | progress simpl in *]; tauto).
  Qed.

  Lemma iteration_kept e p c p' c' s : cstep guard ctl e p c p' c' None -> wfp T e p ->
    path T ROOT = [ROOT] -> In s (active (kon p')) ->
    iteration T (kon p') s = iteration T (kon p) s.
  Proof.
    intros St W HR Hs. apply iteration_ext. intros x Hx. unfold wfp in W.
    assert (K : forall k : kont instr, wfk T e k -> In s (active k) -> In x (active k)).
    { intros k Wk I. eapply path_of_active; eauto. }
    assert (NE : forall l (k : kont instr), wfk T e k -> In s (active k) -> ~ In l (active k)
        -> x =? l = false).
    { intros l k Wk I N. apply Nat.eqb_neq. intros ->. apply N. eauto. }
    inversion St; subst; cbn [kon trips active wfk] in *; unfold wf_body in *; auto;
      rewrite (NE l k); tauto.
  Qed.

  Variable Ps : code instr.
  Variable c0 : engine -> C.
  Variable hi : nat.
  Hypothesis HWF : well_formed T Ps.
  Hypothesis HN : numbered 1 Ps = Some hi.
  Notation walk := (walk C guard ctl Ps c0).

  (* The current iteration of a body is one of its entries. *)
  Lemma current_entry e n p c m : walk e n p c m -> forall s, In s (active (kon p)) ->
    In (iteration T (kon p) s) (entries_of m s).
  Proof.
    destruct HWF as [HR _]. induction 1 as [|n i cu co k c m W IH|n p c m p' c' ev W IH St]; auto.
    - intros s [<-|[]]. unfold iteration. rewrite HR. left. reflexivity.
    - pose proof (walk_keeps T C guard ctl Ps c0 HWF _ _ _ _ _ W) as [IW _ _].
      intros s Hs. destruct ev as [l|]; cbn [count_event].
      + rewrite entries_after_entry. apply in_or_app.
        destruct (Nat.eqb_spec l s) as [->|N].
        * right. left. eapply entered_vector; eauto.
        * left. destruct (other_iterations T C guard ctl _ _ _ _ _ _ St IW HR s Hs)
            as (Hs' & -> & _); auto.
      + rewrite (iteration_kept _ _ _ _ _ _ St IW HR Hs). apply IH.
        eapply no_entry_no_new_body; eauto.
  Qed.

  (** * Entries after a moment *)

  Section After.
    Variables (e : engine) (n0 : nat) (p0 : pos instr) (x0 : C) (m0 : counts).
    Hypothesis W0 : walk e n0 p0 x0 m0.
    Variables (s q : loopid).
    Hypothesis Hs : In s (active (kon p0)).
    Hypothesis Hq : In s (path T q).
    (* What is claimed of the iterations of s in which q is entered later: all after the current one
       have it; so has the current one, or q cannot be entered in it any more. *)
    Variable Q : list nat -> Prop.
    Hypothesis HQ : forall v, lex_lt (iteration T (kon p0) s) v = true -> Q v.
    Hypothesis H0 : Q (iteration T (kon p0) s) \/ ~ In q (still_inside s p0).

    Theorem later_entries n p c m : walk e n p c m -> n0 <= n ->
      exists r, entries_of m q = entries_of m0 q ++ r /\
        forall v, In v r -> Q (firstn (depth T s) v).
    Proof.
      intros W L.
      enough (K : exists r, entries_of m q = entries_of m0 q ++ r /\
                   (forall v, In v r -> Q (firstn (depth T s) v)) /\
                   In (iteration T (kon p0) s) (entries_of m s) /\
                   (In s (active (kon p)) -> Q (iteration T (kon p) s) \/
                                             ~ In q (still_inside s p))).
      { destruct K as (r & K1 & K2 & _). eauto. }
      assert (HERE : forall p c m, walk e n0 p c m ->
        exists r, entries_of m q = entries_of m0 q ++ r /\
          (forall v, In v r -> Q (firstn (depth T s) v)) /\
          In (iteration T (kon p0) s) (entries_of m s) /\
          (In s (active (kon p)) -> Q (iteration T (kon p) s) \/ ~ In q (still_inside s p))).
      { clear n p c m W L. intros p c m W.
        destruct (walk_determined C guard ctl Ps c0 _ _ _ _ _ W0 _ _ _ W) as (E1 & E2 & _ & <-).
        exists []. rewrite app_nil_r. split; auto. split; [intros v []|].
        split; [eapply current_entry; eauto|]. intros _. unfold still_inside.
        rewrite <- E1, <- E2. exact H0. }
      destruct HWF as [HR _].
      induction W as [|n i cu co k c m W IH|n p c m p' c' ev W IH St].
      - replace n0 with 0 in * by lia. apply HERE with (c := c0 e). constructor.
      - destruct (IH L) as (r & R1 & R2 & R3 & R4). exists r. auto.
      - destruct (Nat.eq_dec n0 (S n)) as [->|N].
        { eapply HERE. eapply walk_ctl; eauto. }
        destruct (IH ltac:(lia)) as (r & R1 & R2 & R3 & R4). clear IH HERE.
        pose proof (walk_keeps T C guard ctl Ps c0 HWF _ _ _ _ _ W) as [IW IH _].
        pose proof (walk_adequate T C guard ctl Ps c0 hi HWF HN _ _ _ _ _ W) as A.
        destruct ev as [l|]; cbn [count_event].
        + pose proof (entered_path T C guard ctl _ _ _ _ _ _ St IW) as HP.
          destruct (entered_body T C guard ctl _ _ _ _ _ _ St IW) as (_ & _ & Hl & _).
          assert (NOW : In s (active (kon p')) -> Q (iteration T (kon p') s) \/
                    ~ In q (still_inside s p') /\ l <> q).
          { intros Hs'. destruct (Nat.eq_dec s l) as [->|NE].
            - left. apply HQ.
              pose proof (entered_is_latest T C guard ctl _ _ _ _ _ _ _ St IW HR IH
                (ad_vectors _ _ _ A) (ad_code _ _ _ A) l _
                ltac:(rewrite HP; exact Hl) R3) as X.
              rewrite firstn_all2 in X; auto.
              rewrite iteration_length. auto.
            - destruct (other_iterations T C guard ctl _ _ _ _ _ _ St IW HR s Hs' NE)
                as (Hs1 & -> & _).
              destruct (R4 Hs1) as [|NI]; auto. right.
              destruct (still_inside_step _ _ _ _ _ _ s St IW Hs') as [I1 I2]; [congruence|].
              split; [intros X; apply NI; auto|]. intros ->. apply NI. auto. }
          rewrite !entries_after_entry.
          exists (r ++ if l =? q then [vector (kon p')] else []).
          split; [now rewrite R1, app_assoc|]. split.
          { intros v Hv. apply in_app_or in Hv as [Hv|Hv]; auto.
            destruct (Nat.eqb_spec l q) as [->|]; [|contradiction]. destruct Hv as [<-|[]].
            rewrite (entered_vector T C guard ctl _ _ _ _ _ _ St IW).
            rewrite iteration_prefix.
            - rewrite HP in Hq. destruct (NOW Hq) as [|[_ X]]; [auto|congruence].
            - exact (entered_closed T C guard ctl _ _ _ _ _ _ St IW HR s Hq). }
          split; [apply in_or_app; auto|].
          intros Hs'. destruct (NOW Hs') as [|[X _]]; auto.
        + exists r. split; auto. split; auto. split; auto. intros Hs'.
          rewrite (iteration_kept _ _ _ _ _ _ St IW HR Hs').
          destruct (R4 (no_entry_no_new_body _ _ _ _ _ _ _ _ St s Hs')) as [|NI]; auto.
          right. destruct (still_inside_step _ _ _ _ _ _ s St IW Hs') as [I1 _]; [congruence|].
          intros X. apply NI. auto.
    Qed.
  End After.
End Later.
