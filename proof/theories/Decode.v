(* Decode.v -- what a semaphore that several instructions share says about one of them

   Purpose   A body with the instructions b1..bN of one semaphore, entered t times, retires the word
             (b1..bN)^t in order. Whatever prefix of it has retired, its length decides whether the
             K-th instruction has retired r times: exactly when length >= N*r - (N-K).
   Paper     section 4.5, equations 4 and 5
   C++       decode() in lib/Sync/Counting.cpp
   Trusted   nothing *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.
From Tally Require Import Syntax.

Definition cyc (bs : list instr) (t : nat) : list instr := concat (repeat bs t).

Lemma cyc_first bs t : cyc bs (S t) = bs ++ cyc bs t.
Proof. reflexivity. Qed.

Lemma cyc_last bs t : cyc bs (S t) = cyc bs t ++ bs.
Proof.
  induction t.
  - cbn. now rewrite app_nil_r.
  - rewrite (cyc_first bs (S t)), IHt at 1. now rewrite cyc_first, app_assoc.
Qed.

Lemma cyc_length bs t : length (cyc bs t) = t * length bs.
Proof. induction t; simpl; auto. rewrite cyc_first, app_length. lia. Qed.

Definition cnt (q : list instr) (i : instr) : nat := count_occ Nat.eq_dec q i.

Lemma cnt_app a b i : cnt (a ++ b) i = cnt a i + cnt b i.
Proof. apply count_occ_app. Qed.

Lemma cnt_not_In q i : ~ In i q -> cnt q i = 0.
Proof. apply count_occ_not_In. Qed.

(* P is the K-th of bs, counted from 1. *)
Definition at_pos (bs : list instr) (P K : nat) := NoDup bs /\ K >= 1 /\ nth_error bs (K - 1)
    = Some P.

Lemma at_pos_le_length bs P K : at_pos bs P K -> K <= length bs.
Proof.
  intros (_ & HK & HN). assert (K - 1 < length bs) by (apply nth_error_Some; congruence). lia.
Qed.

Lemma cnt_firstn bs P K j : at_pos bs P K -> cnt (firstn j bs) P = if K <=? j then 1 else 0.
Proof.
  intros (ND & HK & HN). destruct K as [|K]; [lia|]. simpl in HN. rewrite Nat.sub_0_r in HN.
  revert j K HK HN. induction bs as [|b bs IH]; intros j K HK HN; [destruct K; discriminate|].
  inversion ND; subst. destruct j; simpl; auto. destruct K; simpl in HN.
  - inversion HN; subst. unfold cnt; simpl. destruct (Nat.eq_dec P P); [|congruence].
    assert (count_occ Nat.eq_dec (firstn j bs) P = 0); [|destruct j; lia].
    apply count_occ_not_In. intro X. apply H1. rewrite <- (firstn_skipn j bs).
    apply in_or_app; auto.
  - unfold cnt in *; simpl. destruct (Nat.eq_dec b P) as [->|].
    + exfalso. apply H1. eapply nth_error_In; eauto.
    + rewrite (IH H2 j K); auto; lia.
Qed.

(* A prefix of bs^t is some whole rounds and a part of one. *)
Lemma prefix_shape bs t q z : q ++ z = cyc bs t -> bs <> [] ->
  exists m j, j < length bs /\ q = cyc bs m ++ firstn j bs.
Proof.
  intros H NE. assert (0 < length bs) by (destruct bs; simpl; [congruence|lia]).
  revert q z H. induction t; intros q z H.
  - simpl in H. destruct q; [|discriminate]. exists 0, 0. auto.
  - rewrite cyc_first in H. destruct (le_lt_dec (length bs) (length q)) as [L|L].
    + assert (E : firstn (length bs) (q ++ z) = bs).
      { rewrite H, firstn_app, firstn_all, Nat.sub_diag. simpl. now rewrite app_nil_r. }
      rewrite firstn_app in E. replace (length bs - length q) with 0 in E by lia.
      simpl in E. rewrite app_nil_r in E.
      pose proof (firstn_skipn (length bs) q) as Q. rewrite E in Q.
      remember (skipn (length bs) q) as q'. clear Heqq'. subst q.
      rewrite <- app_assoc in H. apply app_inv_head in H.
      destruct (IHt _ _ H) as (m & j & Hj & ->).
      exists (S m), j. split; auto. now rewrite cyc_first, <- app_assoc.
    + exists 0, (length q). split; auto. simpl.
      assert (E : firstn (length q) (q ++ z) = q).
      { rewrite firstn_app, firstn_all, Nat.sub_diag. simpl. now rewrite app_nil_r. }
      rewrite H, firstn_app in E. replace (length q - length bs) with 0 in E by lia.
      simpl in E. now rewrite app_nil_r in E.
Qed.

Lemma cnt_cyc bs P K t : at_pos bs P K -> cnt (cyc bs t) P = t.
Proof.
  intros A. induction t; auto. rewrite cyc_first, cnt_app, IHt.
  pose proof (cnt_firstn bs P K (length bs) A) as X. rewrite firstn_all in X. rewrite X.
  pose proof (at_pos_le_length _ _ _ A). destruct (Nat.leb_spec K (length bs)); lia.
Qed.

(* The decode lemma, for natural numbers with truncating subtraction and every r, 0 included. *)
Theorem sema_reached_iff_retired bs P K t q z r :
  at_pos bs P K -> q ++ z = cyc bs t ->
  (r <= cnt q P <-> length bs * r - (length bs - K) <= length q).
Proof.
  intros A H. pose proof (at_pos_le_length _ _ _ A).
  assert (NE : bs <> []).
  { destruct A as (_ & ? & HN). intros ->. destruct (K - 1); discriminate. }
  destruct (prefix_shape bs t q z H NE) as (m & j & Hj & ->).
  rewrite cnt_app, (cnt_cyc _ _ _ _ A), (cnt_firstn _ _ _ _ A), app_length, cyc_length,
    firstn_length, Nat.min_l by lia.
  destruct A as (_ & HK & HN). destruct r as [|r]; [rewrite Nat.mul_0_r; lia|].
  replace (length bs * S r - (length bs - K)) with (length bs * r + K) by nia.
  destruct (Nat.leb_spec K j); split; intros; nia.
Qed.

(* The same when each retirement adds w. *)
Corollary weighted_sema_reached_iff_retired w bs P K t q z r :
  1 <= w -> at_pos bs P K -> q ++ z = cyc bs t ->
  (r <= cnt q P <-> w * (length bs * r - (length bs - K)) <= w * length q).
Proof.
  intros W A H. rewrite (sema_reached_iff_retired bs P K t q z r A H).
  apply Nat.mul_le_mono_pos_l. lia.
Qed.
