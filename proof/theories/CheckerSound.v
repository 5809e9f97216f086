(* CheckerSound.v -- what the checker knows at a position stays true

   Purpose   [chk_keeps], the frame: what code does not touch stays known. With it, [chk_step]: what
             is known at a position of accepted code stays true over every control step.
   Paper     ImplInv, section 6.4
   C++       -
   Trusted   nothing *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics Maps Decode Expr Known Checker Invariant FactsSound.

(** * Accepted code *)

Section Sound.
  Variable T : tables.
  Variable signals : instr -> option sema.
  Variable e : engine.
  Variable about : tree (list reg).
  Variable inv : guess expr.
  Notation chk := (chk T signals e about inv).
  Notation items := (items T signals).
  Notation touched := (touched e about).
  Notation concerns := (concerns e about).

  (** ** The frame: what code does not touch stays known *)

  Lemma items_keep act xs : forall A Dn A', items act A Dn xs = Some A' ->
    (stamped A -> stamped A') /\
    forall r, ~ In r (flat_map item_registers xs) -> values A' r = values A r.
  Proof.
    induction xs as [|[j [w|]|o|w] xs IH]; cbn [Checker.items flat_map]; intros A Dn A' H.
    - injection H as <-. auto.
    - destruct (served T signals act A w j); [discriminate|].
      destruct (all_waited T act j _); [|discriminate]. apply IH in H as [H1 H2].
      split; auto. intros r N. apply H2. intros I. apply N, in_or_app. auto.
    - destruct (all_waited T act j Dn); [|discriminate]. exact (IH _ _ _ H).
    - apply IH in H as [H1 H2]. split; [intros S; apply H1, write_stamped, S|].
      intros r N. rewrite H2 by (intros I; apply N, in_or_app; auto).
      apply write_frame. intros ->. apply N. simpl. auto.
    - destruct (next_instr xs) as [j|]; [|discriminate].
      destruct (served T signals act A w j); [discriminate|]. apply IH in H as [H1 H2].
      split; auto. intros r N. apply H2. intros I. apply N, in_or_app. auto.
  Qed.

  Lemma concerns_part b c r : (forall q, In q (mentions e b) -> In q (mentions e c)) ->
    (forall l, In l (inner b) -> In l (inner c)) -> In r (concerns b) -> In r (concerns c).
  Proof.
    intros M I H. unfold concerns in *. apply in_app_or in H as [H|H]; apply in_or_app; auto.
    right. apply in_flat_map in H as (l & Hl & H). apply in_flat_map. eauto.
  Qed.

  Ltac part :=
    apply concerns_part; cbn [mentions inner]; intros; simpl; rewrite ?in_app_iff; auto 6.

  Lemma chk_keeps c : forall act A A', chk act A c = Some A' ->
    (stamped A -> stamped A') /\
    forall r x, ~ In r (concerns c) -> apart parts x (inner c) ->
      In x (values A r) -> In x (values A' r).
  Proof.
    induction c as [|f c IH|l b IHb c IH|lt lf bt IHt bf IHf c IH]; intros act A A' H;
      cbn [Checker.chk] in H.
    - injection H as <-. auto.
    - destruct (items act A [] (nth e f [])) as [A1|] eqn:E; [|discriminate].
      destruct (items_keep _ _ _ _ _ E) as [E1 E2]. apply IH in H as [H1 H2].
      split; auto. intros r x N P Hx. apply H2; auto.
      + intros I. apply N. revert I. part.
      + rewrite E2; auto. intros I. apply N. unfold Known.concerns. cbn [mentions].
        rewrite !in_app_iff. auto.
    - destruct (all_known _ _ _); [|discriminate].
      destruct (chk (l :: act) _ b) as [A1|]; [|discriminate].
      destruct (all_known _ _ _); [|discriminate]. apply IH in H as [H1 H2]. split.
      + intros S. apply H1. now apply renew_stamped, head_stamped.
      + intros r x N P Hx.
        assert (Nb : ~ In r (touched b)) by (rewrite touched_In; intros I; apply N; revert I; part).
        apply H2.
        * intros I. apply N. revert I. part.
        * intros m Hm I. apply (P m Hm). cbn [inner]. right. apply in_or_app. auto.
        * apply renew_frame; auto.
          { intros m Hm [<-|[]]. apply (P _ Hm). simpl. auto. }
          unfold loop_head, values. rewrite teller_reads. apply renew_frame; auto.
          intros m Hm I. apply (P m Hm). cbn [inner]. destruct I as [<-|I]; simpl; auto.
          right. apply in_or_app. auto.
    - destruct (chk (lt :: act) _ bt) as [At|]; [|discriminate].
      destruct (chk (lf :: act) _ bf) as [Af|]; [|discriminate]. apply IH in H as [H1 H2]. split.
      + intros S. apply H1. now apply renew_stamped.
      + intros r x N P Hx. apply H2.
        * intros I. apply N. revert I. part.
        * intros m Hm I. apply (P m Hm). cbn [inner]. simpl. rewrite !in_app_iff. auto.
        * apply renew_frame; auto.
          -- rewrite in_app_iff, !touched_In. intros I. apply N.
             destruct I as [I|I]; revert I; part.
          -- intros m Hm I. apply (P m Hm). cbn [inner].
             simpl in *. rewrite !in_app_iff in *. tauto.
  Qed.

  (* What holds at the head of a loop also holds at the end of its body. *)
  Lemma head_kept act A l b H A' : stamped A ->
    chk (l :: act) (enter (path T) (touched b) l (loop_head (touched b) l (inner b) H A)) b
      = Some A' ->
    all_known (touched b) H (values A') = true ->
    within (loop_head (touched b) l (inner b) H A) A'.
  Proof.
    intros S E K r x I. pose proof I as J. apply head_reads in J as [[Hr J]|(N & _ & P)]; auto.
    - exact (all_known_In _ _ _ _ _ K Hr J).
    - apply chk_keeps in E as [_ E]. apply E.
      + now rewrite <- touched_In.
      + intros m Hm Im. apply (P m Hm). simpl. auto.
      + apply renew_frame; auto. intros m Hm [<-|[]]. apply (P _ Hm). simpl. auto.
  Qed.

  (* What is known behind a conditional was known at the end of either branch. *)
  Lemma joined_within act A lt lf bt bf At Af : stamped A ->
    chk (lt :: act) (enter (path T) (touched bt) lt A) bt = Some At ->
    chk (lf :: act) (enter (path T) (touched bf) lf A) bf = Some Af ->
    forall r x, In x (values
        (joined (touched bt ++ touched bf) lt lf (inner bt ++ inner bf) A At Af) r) ->
      (In x (values At r) /\ survives_exit lt x = true) /\
         (In x (values Af r) /\ survives_exit lf x = true).
  Proof.
    intros S Et Ef r x I. apply joined_reads in I as [I|(N & I & P)]; auto.
    rewrite in_app_iff in N.
    assert (Pt : ~ In lt (parts x)) by (intros H; apply (P _ H); simpl; auto).
    assert (Pf : ~ In lf (parts x)) by (intros H; apply (P _ H); simpl; auto).
    apply chk_keeps in Et as [_ Et]. apply chk_keeps in Ef as [_ Ef].
    split; (split; [|now apply apart_survives]).
    - apply Et.
      + rewrite <- touched_In. tauto.
      + intros m Hm Im. apply (P m Hm). simpl. rewrite in_app_iff. auto.
      + apply renew_frame; [tauto| |auto]. now apply apart_one.
    - apply Ef.
      + rewrite <- touched_In. tauto.
      + intros m Hm Im. apply (P m Hm). simpl. rewrite in_app_iff. auto.
      + apply renew_frame; [tauto| |auto]. now apply apart_one.
  Qed.

  (** ** Positions *)

  (* What encloses the position is accepted, from facts A at the end of the inner body. *)
  Fixpoint kont_ok (A : facts) (k : kont item) : Prop :=
    match k with
    | KStop => True
    | KLoop l n b r k =>
        exists A0, stamped A0 /\ within A0 A /\
        (exists A', chk (l :: active k) (enter (path T) (touched b) l A0) b = Some A' /\
                    within A0 A') /\
        exists A2, chk (active k) (leave (touched b) l A0) r = Some A2 /\ kont_ok A2 k
    | KCond l r k =>
        exists M A2, stamped M /\
        (forall r x, In x (values M r) -> In x (values A r) /\ survives_exit l x = true) /\
        chk (active k) M r = Some A2 /\ kont_ok A2 k
    end.

  (* The rest of the code at a position is accepted, from facts A and waited dependences Dn. *)
  Definition pos_ok (A : facts) (Dn : list dep) (p : pos item) : Prop :=
    exists A1 A2, items (active (kon p)) A Dn (cur p) = Some A1 /\
      chk (active (kon p)) A1 (cod p) = Some A2 /\ kont_ok A2 (kon p).

  Variable C : Type.
  Variables (guard : engine -> loopid -> C -> bool) (ctl : engine -> loopid -> C -> C).
  Notation E := (epos instr_of).
  Notation EK := (ekont instr_of).

  Lemma trips_erased_outside (k : kont item) l :
    wfk T e (EK k) -> ~ In l (active k) -> trips (EK k) l = 0.
  Proof. intros W N. apply (trips_outside T e); auto. now rewrite active_erased. Qed.

  Theorem chk_step p c p' c' ev A Dn n rf :
    cstep guard ctl e p c p' c' ev -> pos_ok A Dn p -> wfp T e (E p) ->
    HI T n (active (kon p)) -> valid A (genv_of n (trips (EK (kon p)))) rf ->
    exists A', pos_ok A' [] p' /\
      valid A' (genv_of (count_event (kon (E p')) ev n) (trips (EK (kon p')))) rf.
  Proof.
    intros St (A1 & A2 & HItems & HC & HK) W H V.
    assert (Entry : forall l rs B, ev = Some l -> valid B (genv_of n (trips (EK (kon p)))) rf ->
      valid (enter (path T) rs l B)
        (genv_of (enter_counts (EK (kon p')) l n) (trips (EK (kon p')))) rf).
    { intros l rs B -> VB. pose proof (cstep_erase instr_of St) as SE.
      eapply enter_ok; [|exact VB]. eapply entered_of; [exact H|].
      exact (trips_on_entry _ _ _ _ _ _ _ _ _ _ SE W). }
    pose proof (proj1 V) as SA.
    destruct St; cbn [cur cod kon epos ekont count_event] in *;
      inversion HItems; subst A1; clear HItems; cbn [Checker.chk] in HC.
    - (* block *)
      destruct (items (active k) A [] (nth e f [])) as [A'|] eqn:Ei; [|discriminate].
      exists A. split; auto. exists A', A2. auto.
    - (* first entry of a loop *)
      destruct W as (Wk & ((Hn & _) & _) & _). cbn [kon epos ekont] in *.
      try rewrite active_erased in Hn.
      destruct (all_known _ _ (before_loop l A)) eqn:S1; [|discriminate].
      destruct (chk (l :: active k) _ b) as [A'|] eqn:Eb; [|discriminate].
      destruct (all_known _ _ (values A')) eqn:S2; [|discriminate].
      eexists. split.
      + eexists _, A'.
        cbn [cur cod kon active]. split; [reflexivity|]. split; [exact Eb|]. cbn [kont_ok].
        pose proof (head_kept _ _ _ _ _ _ SA Eb S2) as KW.
        exists (loop_head (touched b) l (inner b) (at_head inv l) A).
        split; [now apply head_stamped|]. split; [exact KW|]. split; [eauto|]. eauto.
      + apply Entry; auto. apply head_ok; auto. cbn [genv_of ghat]. now apply trips_erased_outside.
    - (* loop not entered *)
      destruct W as (Wk & ((Hn & _) & _) & _). cbn [kon epos ekont] in *.
      try rewrite active_erased in Hn.
      destruct (all_known _ _ (before_loop l A)) eqn:S1; [|discriminate].
      destruct (chk (l :: active k) _ b) as [A'|] eqn:Eb; [|discriminate].
      destruct (all_known _ _ (values A')) eqn:S2; [|discriminate].
      eexists. split; [eexists _, A2; cbn; eauto|].
      eapply leave_ok; [apply left_body_of; reflexivity|].
      apply head_ok; auto. cbn [genv_of ghat]. now apply trips_erased_outside.
    - (* back edge *)
      inversion HC; subst A2. cbn [kont_ok] in HK.
      destruct HK as (A0 & S0 & S1 & (A' & Eb & S2) & A3 & Er & K3).
      exists (enter (path T) (touched b) l A0). split.
      + exists (enter (path T) (touched b) l A0), A'. cbn. eauto 12.
      + apply Entry; auto. exact (within_valid _ _ _ _ S0 S1 V).
    - (* loop left *)
      inversion HC; subst A2. cbn [kont_ok] in HK.
      destruct HK as (A0 & S0 & S1 & _ & A3 & Er & K3).
      exists (leave (touched b) l A0).
      split; [exists (leave (touched b) l A0), A3; cbn; auto|].
      eapply leave_ok; [apply left_body_of|exact (within_valid _ _ _ _ S0 S1 V)].
      intros x N. simpl. destruct (Nat.eqb_spec x l); congruence.
    - (* then branch *)
      destruct (chk (lt :: active k) _ bt) as [At|] eqn:Et; [|discriminate].
      destruct (chk (lf :: active k) _ bf) as [Af|] eqn:Ef; [|discriminate].
      exists (enter (path T) (touched bt) lt A). split; [|apply Entry; auto].
      eexists _, At. cbn. split; [reflexivity|]. split; [exact Et|].
      eexists _, A2. split; [|split; [|split; [exact HC|exact HK]]].
      + now apply joined_stamped.
      + intros q x I. apply (joined_within _ _ _ _ _ _ _ _ SA Et Ef) in I. apply I.
    - (* else branch *)
      destruct (chk (lt :: active k) _ bt) as [At|] eqn:Et; [|discriminate].
      destruct (chk (lf :: active k) _ bf) as [Af|] eqn:Ef; [|discriminate].
      exists (enter (path T) (touched bf) lf A). split; [|apply Entry; auto].
      eexists _, Af. cbn. split; [reflexivity|]. split; [exact Ef|].
      eexists _, A2. split; [|split; [|split; [exact HC|exact HK]]].
      + now apply joined_stamped.
      + intros q x I. apply (joined_within _ _ _ _ _ _ _ _ SA Et Ef) in I. apply I.
    - (* branch left *)
      inversion HC; subst A2. cbn [kont_ok] in HK. destruct HK as (M & A3 & SM & S1 & Er & K3).
      exists M. split; [exists M, A3; cbn; auto|]. split; [exact SM|]. intros q x I.
      apply S1 in I as [I X]. rewrite (value_ok _ _ _ _ _ V I). symmetry.
      eapply survives_exit_ok; [|exact X]. apply left_body_of.
      intros y N. simpl. destruct (Nat.eqb_spec y l); congruence.
  Qed.
End Sound.
