(* WaitSound.v -- an accepted wait asks the right question

   Purpose   [wait_iff]: a wait with the threshold that the checker demands passes exactly when the
             dependence is satisfied; [at_most_ok]: one with a threshold that is not below it, only
             then.
   Paper     the decoding argument, section 6.4; equations 2-5
   C++       -
   Trusted   nothing *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics Decode Expr Checker Invariant FactsSound.

(** * The wait *)

Section Wait.
  Variable T : tables.
  Variable signals : instr -> option sema.
  Variable act : list loopid.
  Variables (c : counts) (h : loopid -> nat).
  Hypothesis EH : HI T c act.
  Hypothesis EO : env_ok act (genv_of c h).
  Hypothesis ER : h ROOT = 1.
  Let g := genv_of c h.

  Lemma nodupb_NoDup xs : nodupb xs = true -> NoDup xs.
  Proof.
    induction xs; simpl; constructor; apply andb_true_iff in H as [N1 N2]; auto.
    intro X. apply inb_In in X. rewrite X in N1. discriminate.
  Qed.

  Lemma place_at_pos xs i : nodupb xs = true -> 1 <= place xs i -> at_pos xs i (place xs i).
  Proof.
    intros ND H1. split; [now apply nodupb_NoDup|]. split; auto. clear ND.
    induction xs; simpl in *; [lia|]. destruct (Nat.eqb_spec a i); [subst; auto|].
    destruct (place xs i) eqn:Q; [lia|]. simpl in *. rewrite Nat.sub_0_r in IHxs. apply IHxs. lia.
  Qed.

  Lemma hat_of_ok l : den (hat_of l) g = h l.
  Proof. unfold hat_of. destruct (Nat.eqb_spec l ROOT) as [->|]; simpl; auto. Qed.

  Lemma tot_of_ok l : den (tot_of l) g = tot c l.
  Proof.
    unfold tot_of. destruct (Nat.eqb_spec l ROOT) as [->|]; simpl; auto.
    symmetry. apply (hi_root _ _ _ EH).
  Qed.

  Lemma past_of_ok s m p : In s (path T p) -> den (past_of act s m p) g = past c s m p.
  Proof.
    intros Hp. unfold past_of. destruct (Nat.eqb_spec p s) as [->|].
    - rewrite mk_ok, tot_of_ok by auto. simpl. symmetry. eapply past_self; eauto.
    - destruct (Nat.eqb_spec m 0) as [->|].
      { rewrite tot_of_ok. symmetry. eapply past_0; eauto. }
      destruct (Nat.eqb_spec s ROOT) as [->|]; [|reflexivity]. unfold past.
      rewrite (hi_root _ _ _ EH). replace (1 - m) with 0 by lia. reflexivity.
  Qed.

  Lemma runs_ok p x : distance_ok T act p x = true -> den (runs act p x) g = needed h c p x.
  Proof.
    destruct x as [s k|f|s k b back ahead]; cbn [distance_ok runs needed]; intros Hd;
      repeat rewrite andb_true_iff in Hd.
    - apply past_of_ok. now apply inb_In.
    - rewrite mk_ok, tot_of_ok by auto. reflexivity.
    - destruct Hd as (((_ & Hp) & _) & _). apply inb_In in Hp.
      repeat rewrite mk_ok by auto. rewrite !past_of_ok, hat_of_ok by auto. reflexivity.
  Qed.

  Lemma gt_decides n m : (alu_nat AGt n m = 0 /\ n <= m) \/ (alu_nat AGt n m = 1 /\ ~ n <= m).
  Proof. simpl. destruct (Nat.ltb_spec m n); [right|left]; split; auto; lia. Qed.

  Lemma mask_decides p x :
    den (mask act p x) g = 0 /\ unowed h c p x \/ den (mask act p x) g = 1 /\ ~ unowed h c p x.
  Proof.
    destruct x as [s k|f|s k b back ahead]; cbn [mask unowed]; repeat rewrite mk_ok by auto;
      rewrite ?hat_of_ok, ?tot_of_ok; cbn [den].
    - destruct (gt_decides (h s) k) as [[-> ?]|[-> ?]]; auto.
    - destruct (gt_decides (tot c p) f) as [[-> ?]|[-> ?]]; auto.
    - destruct (gt_decides (h s) k) as [[-> ?]|[-> ?]];
        destruct (gt_decides (alu_nat AAdd (h b) ahead) back) as [[-> X]|[-> X]];
        simpl in X |- *; tauto.
  Qed.

  (* The key equivalence: the condition of the specification, and the test of the semaphore. *)
  Theorem wait_iff d ws (retired sem val : nat) q z t :
    distance_ok T act (home T (prd d)) (dist d) = true ->
    nodupb (group T signals ws (prd d)) = true ->
    1 <= place (group T signals ws (prd d)) (prd d) ->
    1 <= weight T (que T (prd d)) ->
    val = den (threshold T signals act ws d) g ->
    q ++ z = cyc (group T signals ws (prd d)) t ->
    retired = cnt q (prd d) -> sem = weight T (que T (prd d)) * length q ->
    (unowed h c (home T (prd d)) (dist d) \/ needed h c (home T (prd d)) (dist d) <= retired)
      <-> val <= sem.
  Proof.
    intros Hd ND HK HW -> HQ -> ->.
    pose proof (weighted_sema_reached_iff_retired _ _ _ _ t q z
                  (needed h c (home T (prd d)) (dist d)) HW (place_at_pos _ _ ND HK) HQ) as Dc.
    unfold threshold. repeat rewrite mk_ok by auto. rewrite runs_ok by auto. cbn [den alu_nat].
    destruct (mask_decides (home T (prd d)) (dist d)) as [[-> M]|[-> M]].
    - rewrite Nat.mul_0_l. split; [lia|auto].
    - rewrite Nat.mul_1_l, <- Dc. tauto.
  Qed.

  (** ** Dominance *)

  Lemma count_le_ok a b : count_le T a b = true -> den a g <= den b g.
  Proof.
    unfold count_le. rewrite orb_true_iff. intros [H|H].
    - apply expr_eqb_eq in H. now subst.
    - destruct a; try discriminate. destruct b; try discriminate;
        repeat rewrite andb_true_iff in H.
      + destruct H as [H1 H2]. apply Nat.eqb_eq in H1. subst. apply inb_In in H2. simpl.
        rewrite <- (past_0 T _ _ _ _ EH H2). apply past_antitone. lia.
      + destruct H as [[H1 H2] H3]. apply Nat.eqb_eq in H1, H2. apply Nat.leb_le in H3. subst.
        simpl. now apply past_antitone.
  Qed.

  Lemma base_le_ok a b : base_le T a b = true -> den a g <= den b g.
  Proof.
    unfold base_le. rewrite orb_true_iff. intros [H|H]; [now apply count_le_ok|].
    destruct a as [| | | | | |[] u v]; try discriminate. apply count_le_ok in H. simpl. lia.
  Qed.

  Definition value_of (a : linear) : nat := factor a * den (base a) g + plus a - minus a.

  Lemma scaled_of_ok a p m : value_of (scaled_of a p m) = den a g + p - m.
  Proof.
    destruct a as [| | | | | |[] a b]; unfold value_of; simpl; try lia.
    destruct a; simpl; lia.
  Qed.

  Lemma linear_of_ok a : value_of (linear_of a) = den a g.
  Proof.
    destruct a as [n| | | | | |[] a b]; unfold linear_of; try (rewrite scaled_of_ok; simpl; lia);
      try (unfold value_of; simpl; lia).
    - destruct b; rewrite scaled_of_ok; simpl; lia.
    - destruct b; rewrite scaled_of_ok; simpl; lia.
  Qed.

  Lemma linear_le_ok a b : linear_le T a b = true -> value_of a <= value_of b.
  Proof.
    unfold linear_le, value_of. rewrite andb_true_iff, orb_true_iff. intros [H H2].
    apply Nat.leb_le in H2. destruct H as [H|H].
    - apply Nat.eqb_eq in H. rewrite H. lia.
    - apply andb_true_iff in H as [H1 H]. apply Nat.eqb_eq in H1. apply base_le_ok in H.
      rewrite H1. pose proof (Nat.mul_le_mono_l _ _ (factor b) H). lia.
  Qed.

  Lemma mask_is_bit a : is_mask a = true -> den a g <= 1.
  Proof.
    induction a as [| | | | | |[] a IHa b IHb]; simpl; try discriminate.
    - rewrite andb_true_iff. intros [H1 H2]. apply IHa in H1. apply IHb in H2. nia.
    - intros _. destruct (_ <? _); lia.
  Qed.

  Lemma mask_le_ok a b : mask_le a b = true -> den a g <= den b g.
  Proof.
    revert b. induction a as [| | | | | |o x IHx y IHy]; intros b; cbn [mask_le];
      rewrite orb_true_iff; (intros [H|H]; [apply expr_eqb_eq in H; now subst|]);
      try discriminate. destruct o; try discriminate.
    - apply andb_true_iff in H as [H1 H2]. apply mask_is_bit in H1. apply IHx in H2. simpl. nia.
    - destruct y; try discriminate. destruct b as [| | | | | |[] b []]; try discriminate.
      apply andb_true_iff in H as [H1 H2]. apply expr_eqb_eq in H1. apply Nat.leb_le in H2. subst.
      simpl. destruct (Nat.ltb_spec n (den b g)), (Nat.ltb_spec n0 (den b g)); lia.
  Qed.

  Lemma masked_of_ok a : den a g = match masked_of a with
    | (Some m, x) => den m g * den x g
    | (None, x) => den x g
    end /\ (forall m x, masked_of a = (Some m, x) -> is_mask m = true).
  Proof.
    destruct a as [| | | | | |[] a b]; try (split; [reflexivity|discriminate]).
    simpl. destruct (is_mask a) eqn:M; (split; [reflexivity|]); [|discriminate].
    intros m x H. injection H as <- <-. exact M.
  Qed.

  Lemma at_most_ok a b : at_most T a b = true -> den a g <= den b g.
  Proof.
    unfold at_most. rewrite orb_true_iff. intros [H|H].
    - apply expr_eqb_eq in H. now subst.
    - destruct (masked_of_ok a) as [Ea Ma], (masked_of_ok b) as [Eb Mb]. rewrite Ea, Eb.
      destruct (masked_of a) as [[m|] x], (masked_of b) as [[m'|] y]; try discriminate;
        repeat rewrite andb_true_iff in H.
      + destruct H as [H1 H2]. apply mask_le_ok in H1. apply linear_le_ok in H2.
        rewrite !linear_of_ok in H2. now apply Nat.mul_le_mono.
      + apply linear_le_ok in H. rewrite !linear_of_ok in H.
        pose proof (mask_is_bit _ (Ma _ _ eq_refl)). nia.
      + apply linear_le_ok in H. now rewrite !linear_of_ok in H.
  Qed.

  Lemma never_owed_ok d : never_owed T act d = true -> unowed h c (home T (prd d)) (dist d).
  Proof.
    unfold never_owed. rewrite andb_true_iff. intros [_ H]. apply expr_eqb_eq in H.
    destruct (mask_decides (home T (prd d)) (dist d)) as [[_ M]|[M _]]; auto.
    rewrite H in M. discriminate.
  Qed.
End Wait.
