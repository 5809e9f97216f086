(* FirmSound.v -- bounds on expressions, and what an operation leaves firm

   Purpose   What Fits.v says of one expression, one condition and one operation is right:
             expressions lie between [least] and [most], and a register that [exec_firms] calls firm
             under a condition is, whenever the condition holds.
   Paper     -
   C++       -
   Trusted   nothing *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics Maps Expr Known Checker FactsSound Words Fits.

(** * Bounds on expressions *)

Record bounded (B : loopid -> nat) (g : genv) : Prop := {
  bd_tot : forall l, gtot g l <= B l;
  bd_hat : forall l, ghat g l <= gtot g l;
  bd_hist : forall s m p, ghist g s m p <= gtot g p }.


Section Values.
  Variable B : loopid -> nat.
  Variables (act : list loopid) (g : genv).
  Hypothesis HE : env_ok act g.
  Hypothesis HB : bounded B g.

  Lemma most_ok x : den x g <= most B x.
  Proof.
    induction x; cbn [den most]; auto.
    - apply HB.
    - pose proof (bd_tot _ _ HB l). lia.
    - pose proof (bd_tot _ _ HB l). pose proof (bd_hat _ _ HB l). lia.
    - pose proof (bd_tot _ _ HB l). pose proof (bd_hat _ _ HB l). lia.
    - pose proof (bd_tot _ _ HB p). pose proof (bd_hist _ _ HB s m p). lia.
    - destruct o; cbn [alu_nat]; try lia.
      + now apply Nat.mul_le_mono.
      + destruct (_ <? _); lia.
  Qed.

End Values.

(* The condition holds of the counts. *)
Definition all_above (g : genv) (K : condition) : Prop := forall u n, In (u, n) K -> n < den u g.

Lemma all_above_app g H K : all_above g (H ++ K) <-> all_above g H /\ all_above g K.
Proof.
  unfold all_above. split.
  - intros X. split; intros u n I; apply X, in_or_app; auto.
  - intros [X Y] u n I. apply in_app_or in I as [I|I]; auto.
Qed.

Lemma above_ok g x : den x g <> 0 -> all_above g (above x).
Proof.
  induction x; cbn [above]; intros N u k Hu; try contradiction.
  destruct o; try contradiction.
  - cbn [den alu_nat] in N. apply in_app_or in Hu as [Hu|Hu].
    + apply IHx1; auto. intros E. rewrite E in N. lia.
    + apply IHx2; auto. intros E. rewrite E in N. lia.
  - destruct x2; try contradiction. destruct Hu as [E|[]]. inversion E; subst.
    cbn [den alu_nat] in N. destruct (Nat.ltb_spec k (den u g)); [auto|congruence].
Qed.

Section Least.
  Variables (act : list loopid) (g : genv).
  Hypothesis HE : env_ok act g.
  Hypothesis HT : forall l, ghat g l <= gtot g l.
  Variable H : condition.
  Hypothesis HH : all_above g H.

  Lemma assumed_ok x h : In h H -> assumed x h <= den x g.
  Proof.
    destruct h as [u n]. intros Hh. specialize (HH _ _ Hh). unfold assumed. cbn [fst snd].
    destruct (expr_eqb u x) eqn:E; [apply expr_eqb_eq in E; subst; lia|].
    destruct x; try lia. destruct u; try lia. destruct (Nat.eqb_spec l l0) as [->|]; [|lia].
    cbn [den] in *. specialize (HT l0). lia.
  Qed.

  Lemma all_assumed_ok x J : incl J H ->
    fold_right (fun h n => Nat.max (assumed x h) n) 0 J <= den x g.
  Proof.
    induction J as [|h J IH]; cbn [fold_right]; intros I; [lia|].
    apply Nat.max_lub; [apply assumed_ok, I; now left|]. apply IH. intros y Hy. apply I. now right.
  Qed.

  Lemma least_ok x : least act H x <= den x g.
  Proof.
    induction x; cbn [least]; (apply Nat.max_lub; [apply all_assumed_ok, incl_refl|]);
      cbn [den]; try lia.
    - destruct (inb l act) eqn:I; [|lia]. apply inb_In, HE in I. lia.
    - destruct (inb l act) eqn:I; [|lia]. apply inb_In, HE in I. lia.
    - destruct o; try lia.
      + cbn [den alu_nat] in *. lia.
      + destruct x2; try lia. cbn [den alu_nat] in *. lia.
      + destruct x1; try lia. cbn [den alu_nat] in *. nia.
      + cbn [den alu_nat] in *. lia.
  Qed.

  Lemma follows_ok h : follows act H h = true -> snd h < den (fst h) g.
  Proof. intros E. apply Nat.ltb_lt in E. pose proof (least_ok (fst h)). lia. Qed.

  Lemma all_follow K : forallb (follows act H) K = true -> all_above g K.
  Proof. rewrite forallb_forall. intros E u n I. now apply (follows_ok (u, n)), E. Qed.

  Lemma residual_ok K : all_above g (residual act H K) -> all_above g K.
  Proof.
    intros R u n I. destruct (follows act H (u, n)) eqn:E; [now apply (follows_ok (u, n))|].
    apply R, filter_In. now rewrite E.
  Qed.
End Least.

Lemma env_ok_anywhere act g : env_ok act g -> env_ok [] g.
Proof. intros (E1 & E2 & _). split; auto. split; auto. intros l []. Qed.

(** * What is firm *)

Definition firms_valid (F : firms) (g : genv) (loose : reg -> bool) : Prop :=
  stamped F /\ forall r K, In K (firm_when F r) -> all_above g K -> loose r = false.

Lemma all_above_nil g : all_above g [].
Proof. intros u n []. Qed.

(* What holds of counts wherever an engine is. *)
Definition counts_ok (g : genv) : Prop := env_ok [] g /\ forall l, ghat g l <= gtot g l.

Section Firms.
  Variable g : genv.
  Hypothesis HG : counts_ok g.

  (* What is firm whenever J says so. *)
  Definition firm_within (J F : firms) : Prop :=
    forall r K, In K (firm_when J r) -> weaker (firm_when F r) K = true.

  Lemma weaker_ok F loose r K : firms_valid F g loose -> weaker (firm_when F r) K = true ->
    all_above g K -> loose r = false.
  Proof.
    intros [_ V] W X. apply existsb_exists in W as (J & HJ & W). apply (V r J HJ).
    now apply (all_follow [] g (proj1 HG) (proj2 HG) K X).
  Qed.

  Lemma firm_within_valid J F loose : stamped J -> firm_within J F -> firms_valid F g loose ->
    firms_valid J g loose.
  Proof. intros S W V. split; auto. intros r K HK. eapply weaker_ok; eauto. Qed.
End Firms.

Lemma condition_follows K : forallb (follows [] K) K = true.
Proof.
  assert (F : forall u n J, In (u, n) J ->
    S n <= fold_right (fun h m => Nat.max (assumed u h) m) 0 J).
  { intros u n J. induction J as [|h J IH]; intros I; [contradiction|]. cbn [fold_right].
    destruct I as [->|I]; [|specialize (IH I); lia].
    unfold assumed at 1. cbn [fst snd]. rewrite (proj2 (expr_eqb_eq u u) eq_refl). lia. }
  apply forallb_forall. intros [u n] I. apply Nat.ltb_lt. cbn [fst snd].
  eapply Nat.lt_le_trans; [exact (F u n K I)|]. destruct u; cbn [least]; apply Nat.le_max_l.
Qed.

Lemma weaker_itself Ks K : In K Ks -> weaker Ks K = true.
Proof. intros H. apply existsb_exists. exists K. split; auto. apply condition_follows. Qed.

(** ** Over the entry and exit of a body *)

Section Bodies.
  Variable path : loopid -> list loopid.

  Lemma renamed_ok l g g' : entered path l g g' -> forall K K', renamed l K = Some K' ->
    all_above g' K' -> all_above g K.
  Proof.
    intros En. induction K as [|[u n] K IH]; cbn [renamed]; intros K' E X.
    - apply all_above_nil.
    - destruct (after_entry l u) as [v|] eqn:Ev; [|discriminate].
      destruct (renamed l K) as [J|]; [|discriminate]. injection E as <-.
      intros u' n' [H|H].
      + injection H as <- <-. rewrite <- (after_entry_ok path _ _ _ _ _ En Ev).
        apply X. now left.
      + apply (IH J eq_refl); auto. intros y m Hy. apply X. now right.
  Qed.

  Lemma apart_above l g g' K : entered path l g g' -> apart condition_parts K [l] ->
    all_above g' K -> all_above g K.
  Proof.
    intros R P X u n I. rewrite <- (apart_entered path l g g' u R); [now apply X|].
    intros H. apply (P l); [|simpl; auto]. apply in_flat_map. exists (u, n). auto.
  Qed.

  Lemma firm_enter_ok rs l F g g' loose : entered path l g g' -> firms_valid F g loose ->
    firms_valid (firm_enter rs l F) g' loose.
  Proof.
    intros En [S V]. split; [now apply renew_stamped|]. intros r K H X.
    apply renew_reads in H as [[_ H]|(_ & H & P)]; auto.
    - apply in_flat_map in H as (J & HJ & H). unfold renamed1 in H.
      destruct (renamed l J) as [J'|] eqn:E; [|contradiction]. destruct H as [<-|[]].
      apply (V r J HJ). eapply renamed_ok; eauto.
    - apply (V r K H). eapply apart_above; eauto.
  Qed.

  (* Conditions that speak of no counter that leaving l sets back. *)
  Definition stays (l : loopid) (K : condition) : Prop :=
    forallb (fun h => survives_exit l (fst h)) K = true.

  Lemma apart_stays l K : ~ In l (condition_parts K) -> stays l K.
  Proof.
    intros N. apply forallb_forall. intros h Hh. apply apart_survives. intros I. apply N.
    apply in_flat_map. eauto.
  Qed.

  Lemma stays_above l g g' K : left_body l g g' -> stays l K -> all_above g' K -> all_above g K.
  Proof.
    intros Le S X u n I. unfold stays in S. rewrite forallb_forall in S.
    rewrite <- (survives_exit_ok l g g' u); auto. now apply (S (u, n)).
  Qed.

  Lemma firm_leave_ok rs l F g g' loose : left_body l g g' -> firms_valid F g loose ->
    firms_valid (firm_leave rs l F) g' loose.
  Proof.
    intros Le [S V]. split; [now apply renew_stamped|]. intros r K H X.
    assert (Z : In K (firm_when F r) /\ stays l K).
    { apply renew_reads in H as [[_ H]|(_ & H & P)]; auto.
      - now apply filter_In in H.
      - split; auto. apply apart_stays. intros I. apply (P l I). simpl. auto. }
    destruct Z as [Z1 Z2]. apply (V r K Z1). eapply stays_above; eauto.
  Qed.
End Bodies.

(** * One operation *)

Section Operation.
  Variables (M : nat) (B : loopid -> nat).
  Variables (act : list loopid) (o : regop) (A : facts) (F : firms).
  Variables (g : genv) (rf : reg -> nat) (loose : reg -> bool).
  Hypothesis HE : env_ok act g.
  Hypothesis HB : bounded B g.
  Hypothesis HA : valid A g rf.
  Hypothesis HF : firms_valid F g loose.
  Let HT := bd_hat B g HB.

  Lemma operand_firm_ok K x : In K (operand_firm M F x) -> all_above g K -> firm M loose x = true.
  Proof.
    intros HK X. destruct x as [r|n]; cbn [operand_firm firm] in *.
    - apply negb_true_iff. exact (proj2 HF r K HK X).
    - destruct (n <? M); [reflexivity|contradiction].
  Qed.

  Lemma always_firm_ok x : always_firm M act F x = true -> firm M loose x = true.
  Proof.
    unfold always_firm. rewrite existsb_exists. intros (K & HK & X).
    apply (operand_firm_ok K x HK). exact (all_follow act g HE HT [] (all_above_nil g) K X).
  Qed.

  Lemma small_ok : small M B act o A = true ->
    alu_nat (aop o) (value (opa o) rf) (value (opb o) rf) < M.
  Proof.
    unfold small. rewrite existsb_exists. intros (x & Hx & L). apply Nat.ltb_lt in L.
    rewrite <- (results_ok _ _ _ _ _ _ HE HA Hx).
    eapply Nat.le_lt_trans; [apply (most_ok B g HB)|exact L].
  Qed.

  Lemma both_ok H K : all_above g (both act H K) -> all_above g H /\ all_above g K.
  Proof.
    unfold both. rewrite all_above_app. intros [X Y]. split; auto.
    exact (residual_ok act g HE HT H X K Y).
  Qed.

  Lemma all_both_ok Hs Ks K : In K (all_both act Hs Ks) -> all_above g K ->
    exists H J, In H Hs /\ In J Ks /\ all_above g H /\ all_above g J.
  Proof.
    intros HK X. apply in_flat_map in HK as (H & HH & HK). apply in_map_iff in HK as (J & <- & HJ).
    exists H, J. apply both_ok in X. tauto.
  Qed.

  Lemma both_firm_ok K : In K (both_firm M act o F) -> all_above g K ->
    firm M loose (opa o) = true /\ firm M loose (opb o) = true.
  Proof.
    intros HK X. destruct (all_both_ok _ _ _ HK X) as (H & J & HH & HJ & XH & XJ).
    split; eapply operand_firm_ok; eauto.
  Qed.

  Lemma never_above_ok b a : never_above B act b a = true -> den b g <= den a g.
  Proof.
    unfold never_above. rewrite orb_true_iff, Nat.leb_le. intros [H|H].
    - pose proof (most_ok B g HB b). pose proof (least_ok act g HE HT [] (all_above_nil g) a). lia.
    - destruct b as [| | |l| | |[] x y]; try discriminate.
      + destruct a as [|l'| | | | |]; try discriminate. apply Nat.eqb_eq in H. subst. apply HT.
      + apply expr_eqb_eq in H. subst. cbn [den alu_nat]. lia.
      + apply expr_eqb_eq in H. subst. cbn [den alu_nat]. lia.
  Qed.

  Lemma in_order_ok K : In K (in_order B act o A) -> all_above g K ->
    value (opb o) rf <= value (opa o) rf.
  Proof.
    unfold in_order. destruct (existsb _ _) eqn:E; intros HK X.
    - apply existsb_exists in E as (a & Ha & E). apply existsb_exists in E as (b & Hb & E).
      rewrite <- (ovals_ok _ _ _ _ _ HA Ha), <- (ovals_ok _ _ _ _ _ HA Hb).
      now apply never_above_ok.
    - apply in_flat_map in HK as (b & Hb & HK).
      rewrite <- (ovals_ok _ _ _ _ _ HA Hb). destruct b as [[|n]| | | | | |]; try contradiction.
      apply in_map_iff in HK as (a & <- & Ha). rewrite <- (ovals_ok _ _ _ _ _ HA Ha).
      specialize (X a n (or_introl eq_refl)). cbn [den]. lia.
  Qed.

  Lemma masked_ok x y K : In K (masked M act A F x y) -> all_above g K ->
    (value x rf = 0 \/ firm M loose y = true) /\ firm M loose x = true.
  Proof.
    intros HK X. apply in_flat_map in HK as (H & HH & HK).
    apply in_flat_map in HK as (J & HJ & HK). apply in_map_iff in HK as (z & <- & Hz).
    unfold both in X. apply all_above_app in X as [XH X].
    split; [|exact (operand_firm_ok H x HH XH)].
    apply residual_ok with (act := act) (H := H) in X; auto.
    destruct (Nat.eq_dec (value x rf) 0) as [Z|N]; auto. right.
    apply (operand_firm_ok J y HJ). destruct Hz as [<-|Hz].
    - exact (residual_ok act g HE HT [] (all_above_nil g) J X).
    - apply (residual_ok act g HE HT (above z)); auto. apply above_ok.
      now rewrite (ovals_ok _ _ _ _ _ HA Hz).
  Qed.

  Lemma result_firm_ok K : In K (result_firm M B act o A F) -> all_above g K ->
    firm_result M o rf loose = true.
  Proof.
    intros HK X. unfold result_firm in HK. unfold firm_result.
    pose proof small_ok as S. pose proof (both_firm_ok K) as FB.
    destruct (aop o) eqn:Op; cbn [alu_nat] in *.
    - exact (operand_firm_ok K _ HK X).
    - destruct (small M B act o A); [|contradiction]. destruct (FB HK X) as [-> ->].
      apply Nat.ltb_lt. auto.
    - destruct (all_both_ok _ _ _ HK X) as (H & J & HH & HJ & XH & XJ).
      destruct (both_firm_ok H HH XH) as [-> ->]. apply Nat.leb_le. exact (in_order_ok J HJ XJ).
    - destruct (small M B act o A); [|contradiction]. specialize (S eq_refl).
      apply Nat.ltb_lt in S.
      apply in_app_or in HK as [HK|HK]; destruct (masked_ok _ _ _ HK X) as [[Z|Fy] Fx];
        rewrite Fx, ?Z, ?Fy, ?S, ?Nat.eqb_refl, ?orb_true_r; auto.
    - destruct (FB HK X) as [-> ->]. reflexivity.
    - destruct (FB HK X) as [-> ->]. reflexivity.
  Qed.

  Lemma put_condition_In K J Ks : In J (put_condition K Ks) -> J = K \/ In J Ks.
  Proof.
    induction Ks as [|H t IH]; cbn [put_condition]; [intros [<-|[]]; auto|].
    destruct (forallb _ H); [auto|]. destruct (_ <=? _); intros [<-|I]; auto.
    - right. now left.
    - destruct (IH I) as [->|I']; auto. right. now right.
  Qed.

  Lemma weakest_ok Ks K : In K (weakest act Ks) -> all_above g K ->
    exists J, In J Ks /\ all_above g J.
  Proof.
    intros HK X. apply firstn_In in HK.
    assert (I : In K (map (residual act []) Ks)).
    { revert HK. generalize (map (residual act []) Ks). clear X. intros l.
      induction l as [|J l IH]; cbn [fold_right]; auto.
      intros I. apply put_condition_In in I as [->|I]; [now left|right; auto]. }
    apply in_map_iff in I as (J & <- & HJ). exists J. split; auto.
    exact (residual_ok act g HE HT [] (all_above_nil g) J X).
  Qed.

  Lemma exec_firms_ok :
    firms_valid (exec_firms M B act o A F) g (exec_loose M o rf loose).
  Proof.
    split; [apply write_stamped, HF|]. intros r K Hr X. unfold exec_loose.
    apply write_reads in Hr as [[-> Hr]|[N Hr]].
    - destruct (weakest_ok _ _ Hr X) as (J & HJ & XJ).
      rewrite upd_eq. apply negb_false_iff. exact (result_firm_ok J HJ XJ).
    - rewrite upd_ne by auto. exact (proj2 HF r K Hr X).
  Qed.
End Operation.
