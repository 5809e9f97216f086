(* FitsStep.v -- what is firm at a position stays right

   Purpose   As CheckerSound.v, for the walk of [fit_code]: what the code does not touch stays known
             and firm; and at a position of accepted code, what is known and firm stays right over
             every control step.
   Paper     -
   C++       -
   Trusted   nothing *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics Maps Decode Expr Known Checker Invariant FactsSound.
From Tally Require Import CheckerSound Certificate Fits FirmSound.

(** * The code of one engine *)

Section Code.
  Variables (M : nat) (B : loopid -> nat).
  Variable T : tables.
  Variable e : engine.
  Variable about : tree (list reg).
  Variable inv : guess expr.
  Variable finv : guess condition.
  Notation fit_code := (fit_code M B (path T) e about inv finv).
  Notation fit_items := (fit_items M B).
  Notation touched := (touched e about).
  Notation concerns := (concerns e about).

  (** ** The frame, as in CheckerSound.v *)

  Lemma fit_items_keep act xs : forall A F A' F', fit_items act A F xs = Some (A', F') ->
    (stamped A -> stamped A') /\ (stamped F -> stamped F') /\
    forall r, ~ In r (flat_map item_registers xs) ->
      values A' r = values A r /\ firm_when F' r = firm_when F r.
  Proof.
    induction xs as [|[j w|o|w] xs IH]; cbn [Fits.fit_items flat_map]; intros A F A' F' H.
    - injection H as <- <-. auto.
    - destruct (wait_firm M act F w); [|discriminate]. apply IH in H as (H1 & H2 & H3).
      split; auto. split; auto. intros r N. apply H3. intros I. apply N, in_or_app. auto.
    - apply IH in H as (H1 & H2 & H3). split; [intros S; apply H1, write_stamped, S|].
      split; [intros S; apply H2, write_stamped, S|]. intros r N.
      destruct (H3 r) as [-> ->]; [intros I; apply N, in_or_app; auto|].
      split; apply write_frame; intros ->; apply N; simpl; auto.
    - destruct (wait_firm M act F (Some w)); [|discriminate]. apply IH in H as (H1 & H2 & H3).
      split; auto. split; auto. intros r N. apply H3. intros I. apply N, in_or_app. auto.
  Qed.

  Definition keeps (c : code item) (A A' : facts) (F F' : firms) : Prop :=
    (stamped A -> stamped A') /\ (stamped F -> stamped F') /\
    (forall r x, ~ In r (concerns c) -> apart parts x (inner c) ->
      In x (values A r) -> In x (values A' r)) /\
    (forall r K, ~ In r (concerns c) -> apart condition_parts K (inner c) ->
      In K (firm_when F r) -> In K (firm_when F' r)).

  Ltac part :=
    apply concerns_part; cbn [mentions inner]; intros; simpl; rewrite ?in_app_iff; auto 6.

  Lemma fit_code_keeps c : forall act A F A' F',
    fit_code act A F c = Some (A', F') -> keeps c A A' F F'.
  Proof.
    induction c as [|f c IH|l b IHb c IH|lt lf bt IHt bf IHf c IH]; intros act A F A' F' H;
      cbn [Fits.fit_code] in H.
    - injection H as <- <-. repeat split; auto.
    - destruct (fit_items act A F (nth e f [])) as [[A1 F1]|] eqn:E; [|discriminate].
      destruct (fit_items_keep _ _ _ _ _ _ E) as (E1 & E2 & E3).
      apply IH in H as (H1 & H2 & H3 & H4).
      assert (R : forall r, ~ In r (concerns (CBlock f c)) -> ~ In r (concerns c) /\
        values A1 r = values A r /\ firm_when F1 r = firm_when F r).
      { intros r N. split; [intros I; apply N; revert I; part|]. apply E3. intros I. apply N.
        unfold Known.concerns. cbn [mentions]. rewrite !in_app_iff. auto. }
      split; auto. split; auto. split; intros r x N P Hx; destruct (R r N) as (R1 & R2 & R3).
      + apply H3; auto. now rewrite R2.
      + apply H4; auto. now rewrite R3.
    - destruct (_ && _); [|discriminate].
      destruct (fit_code (l :: act) _ _ b) as [[A1 F1]|]; [|discriminate].
      destruct (_ && _); [|discriminate]. apply IH in H as (H1 & H2 & H3 & H4).
      assert (R : forall r, ~ In r (concerns (CLoop l b c)) ->
        ~ In r (concerns c) /\ ~ In r (touched b)).
      { intros r N. rewrite touched_In. split; intros I; apply N; revert I; part. }
      split; [intros S; now apply H1, renew_stamped, head_stamped|].
      split; [intros S; now apply H2, renew_stamped, renew_stamped|].
      split; intros r x N P Hx; destruct (R r N) as (R1 & R2).
      + apply H3; auto.
        * intros m Hm I. apply (P m Hm). cbn [inner]. right. apply in_or_app. auto.
        * apply renew_frame; auto.
          { intros m Hm [<-|[]]. apply (P _ Hm). simpl. auto. }
          unfold loop_head, values. rewrite teller_reads. apply renew_frame; auto.
          intros m Hm I. apply (P m Hm). cbn [inner]. destruct I as [I|I]; simpl; auto.
          right. apply in_or_app. auto.
      + apply H4; auto.
        * intros m Hm I. apply (P m Hm). cbn [inner]. right. apply in_or_app. auto.
        * apply renew_frame; auto.
          { intros m Hm [<-|[]]. apply (P _ Hm). simpl. auto. }
          apply renew_frame; auto.
          intros m Hm I. apply (P m Hm). cbn [inner]. destruct I as [I|I]; simpl; auto.
          right. apply in_or_app. auto.
    - destruct (fit_code (lt :: act) _ _ bt) as [[At Ft]|]; [|discriminate].
      destruct (fit_code (lf :: act) _ _ bf) as [[Af Ff]|]; [|discriminate].
      apply IH in H as (H1 & H2 & H3 & H4).
      assert (R : forall r, ~ In r (concerns (CCond lt lf bt bf c)) ->
        ~ In r (concerns c) /\ ~ In r (touched bt ++ touched bf)).
      { intros r N. rewrite in_app_iff, !touched_In.
        split; [|intros [I|I]]; try intros I; apply N; revert I; part. }
      split; [intros S; now apply H1, renew_stamped|].
      split; [intros S; now apply H2, renew_stamped|].
      split; intros r x N P Hx; destruct (R r N) as (R1 & R2).
      + apply H3; auto; [|apply renew_frame; auto]; intros m Hm I; apply (P m Hm);
          cbn [inner]; simpl in *; rewrite !in_app_iff in *; tauto.
      + apply H4; auto; [|apply renew_frame; auto]; intros m Hm I; apply (P m Hm);
          cbn [inner]; simpl in *; rewrite !in_app_iff in *; tauto.
  Qed.

  Lemma firm_head_kept act A0 F l b J A' F' : stamped F ->
    fit_code (l :: act) A0 (firm_enter (touched b) l (firm_head (touched b) l (inner b) J F)) b
      = Some (A', F') ->
    all_firm (touched b) J (firm_when F') = true ->
    firm_within (firm_head (touched b) l (inner b) J F) F'.
  Proof.
    intros S E W r K I. pose proof I as I'. apply renew_reads in I' as [[Hr I']|(N & _ & P)]; auto.
    - unfold all_firm in W. rewrite forallb_forall in W. specialize (W r Hr).
      rewrite forallb_forall in W. auto.
    - apply weaker_itself. apply fit_code_keeps in E as (_ & _ & _ & E). apply E.
      + now rewrite <- touched_In.
      + intros m Hm Im. apply (P m Hm). simpl. auto.
      + apply renew_frame; auto. intros m Hm [<-|[]]. apply (P _ Hm). simpl. auto.
  Qed.

  Lemma facts_head_kept act A F0 l b H A' F' : stamped A ->
    fit_code (l :: act) (enter (path T) (touched b) l (loop_head (touched b) l (inner b) H A)) F0 b
      = Some (A', F') ->
    all_known (touched b) H (values A') = true ->
    within (loop_head (touched b) l (inner b) H A) A'.
  Proof.
    intros S E K r x I. pose proof I as J. apply head_reads in J as [[Hr J]|(N & _ & P)]; auto.
    - exact (all_known_In _ _ _ _ _ K Hr J).
    - apply fit_code_keeps in E as (_ & _ & E & _). apply E.
      + now rewrite <- touched_In.
      + intros m Hm Im. apply (P m Hm). simpl. auto.
      + apply renew_frame; auto. intros m Hm [<-|[]]. apply (P _ Hm). simpl. auto.
  Qed.

  Lemma joined_fits act A F lt lf bt bf At Ft Af Ff : stamped A -> stamped F ->
    fit_code (lt :: act) (enter (path T) (touched bt) lt A) (firm_enter (touched bt) lt F) bt
      = Some (At, Ft) ->
    fit_code (lf :: act) (enter (path T) (touched bf) lf A) (firm_enter (touched bf) lf F) bf
      = Some (Af, Ff) ->
    let rs := touched bt ++ touched bf in
    let ls := inner bt ++ inner bf in
    (forall r x, In x (values (joined rs lt lf ls A At Af) r) ->
      (In x (values At r) /\ survives_exit lt x = true) /\
      (In x (values Af r) /\ survives_exit lf x = true)) /\
    (forall r K, In K (firm_when (firm_joined rs lt lf ls F Ft Ff) r) ->
      (exists J, In J (firm_when Ft r) /\ stays lt J /\ forallb (follows [] K) J = true) /\
      (exists J, In J (firm_when Ff r) /\ stays lf J /\ forallb (follows [] K) J = true)).
  Proof.
    intros SA SF Et Ef rs ls.
    apply fit_code_keeps in Et as (_ & _ & Et & Gt).
    apply fit_code_keeps in Ef as (_ & _ & Ef & Gf).
    assert (Q : forall r, ~ In r rs -> (~ In r (touched bt) /\ ~ In r (touched bf)) /\
      ~ In r (concerns bt) /\ ~ In r (concerns bf)).
    { intros r N. unfold rs in N. rewrite in_app_iff in N. rewrite <- !touched_In. tauto. }
    split; intros r x I.
    - apply joined_reads in I as [I|(N & I & P)]; auto. destruct (Q r N) as ((Q1 & Q2) & Q3 & Q4).
      assert (Pt : ~ In lt (parts x)) by (intros H; apply (P _ H); simpl; auto).
      assert (Pf : ~ In lf (parts x)) by (intros H; apply (P _ H); simpl; auto).
      split; (split; [|now apply apart_survives]).
      + apply Et; auto; [|apply renew_frame; auto; now apply apart_one].
        intros m Hm Im. apply (P m Hm). unfold ls. simpl. rewrite in_app_iff. auto.
      + apply Ef; auto; [|apply renew_frame; auto; now apply apart_one].
        intros m Hm Im. apply (P m Hm). unfold ls. simpl. rewrite in_app_iff. auto.
    - apply renew_reads in I as [[_ I]|(N & I & P)]; auto.
      + apply filter_In in I as [I W]. apply filter_In in I as [I1 I2].
        apply existsb_exists in W as (J & HJ & W). apply filter_In in HJ as [J1 J2].
        split; [exists x|exists J]; repeat split; auto. apply condition_follows.
      + destruct (Q r N) as ((Q1 & Q2) & Q3 & Q4).
        assert (Pt : ~ In lt (condition_parts x)) by (intros H; apply (P _ H); simpl; auto).
        assert (Pf : ~ In lf (condition_parts x)) by (intros H; apply (P _ H); simpl; auto).
        split; exists x; repeat split; auto using condition_follows, apart_stays.
        * apply Gt; auto; [|apply renew_frame; auto; intros m Hm [<-|[]]; auto].
          intros m Hm Im. apply (P m Hm). unfold ls. simpl. rewrite in_app_iff. auto.
        * apply Gf; auto; [|apply renew_frame; auto; intros m Hm [<-|[]]; auto].
          intros m Hm Im. apply (P m Hm). unfold ls. simpl. rewrite in_app_iff. auto.
  Qed.

  (** ** Positions *)

  Fixpoint kont_fits (A : facts) (F : firms) (k : kont item) : Prop :=
    match k with
    | KStop => True
    | KLoop l n b r k =>
        exists A0 F0, (stamped A0 /\ within A0 A) /\ (stamped F0 /\ firm_within F0 F) /\
        (exists A' F',
           fit_code (l :: active k) (enter (path T) (touched b) l A0)
             (firm_enter (touched b) l F0) b = Some (A', F') /\
           within A0 A' /\ firm_within F0 F') /\
        exists A2 F2,
          fit_code (active k) (leave (touched b) l A0) (firm_leave (touched b) l F0) r
            = Some (A2, F2) /\ kont_fits A2 F2 k
    | KCond l r k =>
        exists A' F' A2 F2, (stamped A' /\ stamped F') /\
          (forall r x, In x (values A' r) -> In x (values A r) /\ survives_exit l x = true) /\
          (forall r K, In K (firm_when F' r) ->
            exists J, In J (firm_when F r) /\ stays l J /\ forallb (follows [] K) J = true) /\
          fit_code (active k) A' F' r = Some (A2, F2) /\ kont_fits A2 F2 k
    end.

  Definition pos_fits (A : facts) (F : firms) (p : pos item) : Prop :=
    exists A1 F1 A2 F2, fit_items (active (kon p)) A F (cur p) = Some (A1, F1) /\
      fit_code (active (kon p)) A1 F1 (cod p) = Some (A2, F2) /\ kont_fits A2 F2 (kon p).

  Variable C : Type.
  Variables (guard : engine -> loopid -> C -> bool) (ctl : engine -> loopid -> C -> C).
  Notation E := (epos instr_of).
  Notation EK := (ekont instr_of).

  Lemma firm_head_ok rs l ls J F g loose : counts_ok g -> all_firm rs J (firm_when F) = true ->
    firms_valid F g loose -> firms_valid (firm_head rs l ls J F) g loose.
  Proof.
    intros G W V. split; [apply renew_stamped, V|]. intros r K I X.
    apply renew_reads in I as [[Hr I]|(_ & I & _)]; [|exact (proj2 V r K I X)|apply V].
    unfold all_firm in W. rewrite forallb_forall in W. specialize (W r Hr).
    rewrite forallb_forall in W. eapply weaker_ok; eauto.
  Qed.

  Theorem fits_cstep p c p' c' ev A F n rf loose :
    cstep guard ctl e p c p' c' ev -> pos_fits A F p -> wfp T e (E p) ->
    HI T n (active (kon p)) -> valid A (genv_of n (trips (EK (kon p)))) rf ->
    firms_valid F (genv_of n (trips (EK (kon p)))) loose ->
    counts_ok (genv_of n (trips (EK (kon p)))) ->
    counts_ok (genv_of (count_event (kon (E p')) ev n) (trips (EK (kon p')))) ->
    exists A' F', pos_fits A' F' p' /\
      firms_valid F' (genv_of (count_event (kon (E p')) ev n) (trips (EK (kon p')))) loose /\
      valid A' (genv_of (count_event (kon (E p')) ev n) (trips (EK (kon p')))) rf.
  Proof.
    intros St (A1 & F1 & A2 & F2 & HItems & HC & HK) W H V VF G G'.
    set (g := genv_of n (trips (EK (kon p)))) in *.
    pose proof (proj1 V) as SA. pose proof (proj1 VF) as SF.
    assert (Entry : forall l, ev = Some l -> entered (path T) l g
        (genv_of (enter_counts (EK (kon p')) l n) (trips (EK (kon p'))))).
    { intros l ->. pose proof (cstep_erase instr_of St) as SE.
      eapply entered_of; [exact H|]. exact (trips_on_entry _ _ _ _ _ _ _ _ _ _ SE W). }
    destruct St; cbn [cur cod kon epos ekont count_event] in *;
      inversion HItems; subst A1 F1; clear HItems; cbn [Fits.fit_code] in HC.
    - (* block *)
      destruct (fit_items (active k) A F (nth e f [])) as [[A' F']|] eqn:Ei; [|discriminate].
      exists A, F. split; auto. exists A', F', A2, F2. auto.
    - (* first entry of a loop *)
      specialize (Entry l eq_refl).
      destruct W as (Wk & ((Hn & _) & _) & _). cbn [kon epos ekont] in *.
      try rewrite active_erased in Hn.
      set (A0 := loop_head (touched b) l (inner b) (at_head inv l) A) in *.
      set (F0 := firm_head (touched b) l (inner b) (at_head finv l) F) in *.
      destruct (all_known _ _ _ && _) eqn:S1; [|discriminate].
      apply andb_true_iff in S1 as [S1 S1'].
      destruct (fit_code (l :: active k) _ _ b) as [[A' F']|] eqn:Eb; [|discriminate].
      destruct (_ && _) eqn:S2; [|discriminate].
      apply andb_true_iff in S2 as [S2 S2'].
      assert (VA0 : valid A0 g rf).
      { apply head_ok; auto. cbn [genv_of ghat]. now apply (trips_erased_outside T e). }
      assert (VF0 : firms_valid F0 g loose) by now apply firm_head_ok.
      pose proof (facts_head_kept _ _ _ _ _ _ _ _ SA Eb S2) as KA.
      pose proof (firm_head_kept _ _ _ _ _ _ _ _ SF Eb S2') as KF.
      exists (enter (path T) (touched b) l A0), (firm_enter (touched b) l F0).
      split; [|split; [eapply firm_enter_ok; eauto|eapply enter_ok; eauto]].
      eexists _, _, A', F'. cbn. split; [reflexivity|]. split; [exact Eb|].
      exists A0, F0. split; [split; [apply VA0|exact KA]|]. split; [split; [apply VF0|exact KF]|].
      split; [eauto 6|]. eauto.
    - (* loop not entered *)
      destruct W as (Wk & ((Hn & _) & _) & _). cbn [kon epos ekont] in *.
      try rewrite active_erased in Hn.
      destruct (all_known _ _ _ && _) eqn:S1; [|discriminate].
      apply andb_true_iff in S1 as [S1 S1'].
      destruct (fit_code (l :: active k) _ _ b) as [[A' F']|] eqn:Eb; [|discriminate].
      destruct (_ && _) eqn:S2; [|discriminate].
      eexists _, _. split; [eexists _, _, A2, F2; cbn; eauto|].
      split; [eapply firm_leave_ok; [apply left_body_of; reflexivity|]; now apply firm_head_ok|].
      eapply leave_ok; [apply left_body_of; reflexivity|]. apply head_ok; auto.
      cbn [genv_of ghat]. now apply (trips_erased_outside T e).
    - (* back edge *)
      specialize (Entry l eq_refl). inversion HC; subst A2 F2. cbn [kont_fits] in HK.
      destruct HK as (A0 & F0 & (SA0 & W1) & (SF0 & W2) & (A' & F' & Eb & K1 & K2) & HK).
      destruct HK as (A3 & F3 & Er & K3).
      exists (enter (path T) (touched b) l A0), (firm_enter (touched b) l F0).
      split; [|split].
      + eexists _, _, A', F'. cbn. split; [reflexivity|]. split; [exact Eb|].
        exists A0, F0. split; auto. split; auto. split; eauto 6.
      + eapply firm_enter_ok; [exact Entry|]. exact (firm_within_valid g G _ _ _ SF0 W2 VF).
      + eapply enter_ok; [exact Entry|]. exact (within_valid _ _ _ _ SA0 W1 V).
    - (* loop left *)
      inversion HC; subst A2 F2. cbn [kont_fits] in HK.
      destruct HK as (A0 & F0 & (SA0 & W1) & (SF0 & W2) & _ & A3 & F3 & Er & K3).
      assert (Left : left_body l g (genv_of n (trips (EK k)))).
      { apply left_body_of. intros x N. cbn. destruct (Nat.eqb_spec x l); congruence. }
      eexists _, _. split; [eexists _, _, A3, F3; cbn; eauto|].
      split; [eapply firm_leave_ok; [exact Left|]; exact (firm_within_valid g G _ _ _ SF0 W2 VF)|].
      eapply leave_ok; [exact Left|]. exact (within_valid _ _ _ _ SA0 W1 V).
    - (* then branch *)
      specialize (Entry lt eq_refl).
      destruct (fit_code (lt :: active k) _ _ bt) as [[At Ft]|] eqn:Et; [|discriminate].
      destruct (fit_code (lf :: active k) _ _ bf) as [[Af Ff]|] eqn:Ef; [|discriminate].
      destruct (joined_fits _ _ _ _ _ _ _ _ _ _ _ SA SF Et Ef) as [JA JF].
      exists (enter (path T) (touched bt) lt A), (firm_enter (touched bt) lt F).
      split; [|split; [eapply firm_enter_ok; eauto|eapply enter_ok; eauto]].
      eexists _, _, At, Ft. cbn. split; [reflexivity|]. split; [exact Et|].
      eexists _, _, A2, F2.
      split; [|split; [intros q x I; apply JA in I; apply I|
               split; [intros q K I; apply JF in I; apply I|split; [exact HC|exact HK]]]].
      split; [now apply joined_stamped|now apply renew_stamped].
    - (* else branch *)
      specialize (Entry lf eq_refl).
      destruct (fit_code (lt :: active k) _ _ bt) as [[At Ft]|] eqn:Et; [|discriminate].
      destruct (fit_code (lf :: active k) _ _ bf) as [[Af Ff]|] eqn:Ef; [|discriminate].
      destruct (joined_fits _ _ _ _ _ _ _ _ _ _ _ SA SF Et Ef) as [JA JF].
      exists (enter (path T) (touched bf) lf A), (firm_enter (touched bf) lf F).
      split; [|split; [eapply firm_enter_ok; eauto|eapply enter_ok; eauto]].
      eexists _, _, Af, Ff. cbn. split; [reflexivity|]. split; [exact Ef|].
      eexists _, _, A2, F2.
      split; [|split; [intros q x I; apply JA in I; apply I|
               split; [intros q K I; apply JF in I; apply I|split; [exact HC|exact HK]]]].
      split; [now apply joined_stamped|now apply renew_stamped].
    - (* branch left *)
      inversion HC; subst A2 F2. cbn [kont_fits] in HK.
      destruct HK as (A' & F' & A3 & F3 & (SA' & SF') & S1 & S1' & Er & K3).
      assert (Left : left_body l g (genv_of n (trips (EK k)))).
      { apply left_body_of. intros x N. cbn. destruct (Nat.eqb_spec x l); congruence. }
      exists A', F'. split; [exists A', F', A3, F3; cbn; auto|]. split; (split; [assumption|]).
      + intros q K I X. apply S1' in I as (J & HJ & Z & Q). apply (proj2 VF q J HJ).
        apply (stays_above _ _ _ _ Left Z). now apply (all_follow [] _ (proj1 G') (proj2 G') K X).
      + intros q x I. apply S1 in I as [I Z]. rewrite (value_ok _ _ _ _ _ V I). symmetry.
        exact (survives_exit_ok _ _ _ _ Left Z).
  Qed.

  (* Engines that do nothing are followed like one that does not exist. *)
  Lemma fit_code_beyond n c : width c <= n -> n <= e -> forall act A F,
    fit_code act A F c = Fits.fit_code M B (path T) n about inv finv act A F c.
  Proof.
    intros Hw He. induction c; intros act A F; simpl in *; auto.
    - rewrite !nth_overflow by lia. simpl. apply IHc; lia.
    - rewrite (touched_beyond about n e) by lia. destruct (_ && _); auto. rewrite IHc1 by lia.
      destruct (Fits.fit_code M B (path T) n about inv finv _ _ _ c1) as [[A' F']|]; auto.
      destruct (_ && _); auto. apply IHc2; lia.
    - rewrite !(touched_beyond about n e) by lia. rewrite IHc1, IHc2 by lia.
      destruct (Fits.fit_code M B (path T) n about inv finv _ _ _ c1) as [[At Ft]|]; auto.
      destruct (Fits.fit_code M B (path T) n about inv finv _ _ _ c2) as [[Af Ff]|]; auto.
      apply IHc3; lia.
  Qed.
End Code.
