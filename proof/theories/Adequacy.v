(* Adequacy.v -- the specification's condition is the paper's, on iteration vectors

   Purpose   Counts numbered over the whole run and iteration vectors say the same. For a position
             inside body s and an iteration t of s, k before the current one and in the same trip:
             the entries of p up to the end of t number [past m s k p], those before t
             [past m s (k+1) p].
   Paper     section 3.2, equation 1; appendix A.1
   C++       -
   Trusted   nothing *)

From Coq Require Import List Arith Lia Bool Sorted.
Import ListNotations.
From Tally Require Import Syntax Semantics Decode Expr Checker Invariant Legality Vectors.
From Tally Require Import SequentialOrder VectorInvariant.

(** * Counting at a position *)

Section Adequacy.
  Variable T : tables.

  Section At.
    Variables (e : engine) (p : pos instr) (m : counts).
    Hypothesis HR : path T ROOT = [ROOT].
    Hypothesis W : wfp T e p.
    Hypothesis H : HI T m (active (kon p)).
    Hypothesis A : adequate T p m.
    Let k := kon p.

    Lemma entries_prefix_length s q v : In s (path T q) -> In v (entries_of m q) ->
      length (firstn (depth T s) v) = depth T s.
    Proof.
      intros Hs Hv. destruct (vo_entry _ _ _ (ad_vectors _ _ _ A) _ _ Hv) as [LV CL].
      rewrite firstn_length, LV. destruct (CL s Hs) as [pre E]. unfold depth.
      rewrite E, app_length. lia.
    Qed.

    Theorem past_counts_entries_before s q d : In s (active k) -> In s (path T q)
        -> d < trips k s ->
      entries_before T m s q (earlier T k s d) = past m s (d + 1) q.
    Proof. apply (vo_before _ _ _ (ad_vectors _ _ _ A)). Qed.

    Theorem past_counts_entries_up_to s q d : In s (active k) -> In s (path T q) -> d < trips k s ->
      entries_up_to T m s q (earlier T k s d) = past m s d q.
    Proof.
      intros Hs Hq Hd. destruct (active_head_in_path T e k s HR (proj1 W) Hs) as [rest PS].
      unfold entries_up_to. destruct d as [|d].
      - rewrite count_if_all.
        2:{ intros v Hv.
        rewrite (earlier_split T _ _ _ _ PS), Nat.sub_0_r, <- (iteration_split T) by (exact PS).
            eapply (vo_past _ _ _ (ad_vectors _ _ _ A)); eauto. }
        rewrite <- (vo_total _ _ _ (ad_vectors _ _ _ A)). symmetry. eapply past_0; eauto.
      - transitivity (past m s (d + 1) q); [|f_equal; lia].
        rewrite <- (past_counts_entries_before s q d) by (auto; lia).
        unfold entries_before. apply count_if_ext. intros v Hv.
        rewrite !(earlier_split T _ _ _ _ PS).
        replace (trips k s - d) with (S (trips k s - S d)) by lia.
        symmetry. apply lex_lt_succ.
        rewrite (entries_prefix_length s q v Hq Hv). unfold depth. rewrite PS. simpl.
        now rewrite rev_length, map_length.
    Qed.

    Theorem past_counts_entries_in s q d : In s (active k) -> In s (path T q) -> d < trips k s ->
      past m s d q = past m s (d + 1) q + entries_in T m s q (earlier T k s d).
    Proof.
      intros Hs Hq Hd. rewrite <- past_counts_entries_up_to, <- past_counts_entries_before by auto.
      destruct (active_head_in_path T e k s HR (proj1 W) Hs) as [rest PS].
      apply count_if_split. intros v Hv.
      assert (L : length (firstn (depth T s) v) = length (earlier T k s d)).
      { rewrite (entries_prefix_length s q v Hq Hv), (earlier_split T _ _ _ _ PS), app_length.
        unfold depth. rewrite PS, rev_length, map_length. simpl. lia. }
      split; [now apply lex_le_split|].
      destruct (vec_eqb _ _) eqn:E; [|apply andb_false_r].
      apply vec_eqb_eq in E. now rewrite E, lex_lt_irrefl.
    Qed.

    Theorem total_counts_entries q : tot m q = length (entries_of m q).
    Proof. apply (vo_total _ _ _ (ad_vectors _ _ _ A)). Qed.

    Theorem underflow_is_first_iterations s d : In s (active k) ->
      (underflows (iteration T k s) (distance_on T s d) <-> trips k s <= d).
    Proof.
      intros Hs. destruct (active_head_in_path T e k s HR (proj1 W) Hs) as [rest PS].
      rewrite (iteration_split T _ _ _ PS). unfold distance_on, depth. rewrite PS. simpl.
      rewrite Nat.sub_0_r.
      replace (length rest) with (length (rev (map (trips k) rest)))
        by now rewrite rev_length, map_length.
      apply underflows_last. intros x Hx. apply in_rev, in_map_iff in Hx as (y & <- & Hy).
      apply (trips_inside T e k y (proj1 W)).
      apply (path_of_active T e k s (proj1 W) HR Hs). rewrite PS. now right.
    Qed.
  End At.
End Adequacy.

(** * Along a walk *)

Section Walk.
  Variable T : tables.
  Variable C : Type.
  Variables (guard : engine -> loopid -> C -> bool) (ctl : engine -> loopid -> C -> C).
  Variable Ps : code instr.
  Variable c0 : engine -> C.
  Variable hi : nat.
  Hypothesis HWF : well_formed T Ps.
  Hypothesis HN : numbered 1 Ps = Some hi.

  Theorem walk_adequate e n p c m : walk C guard ctl Ps c0 e n p c m -> adequate T p m.
  Proof.
    induction 1 as [|n i cu co k c m W IH|n p c m p' c' ev W IH St].
    - eapply adequate_initial; eauto. apply HWF.
    - destruct IH. constructor; auto.
    - pose proof (walk_keeps T C guard ctl Ps c0 HWF _ _ _ _ _ W) as [IW H _].
      eapply adequate_step; eauto. apply HWF.
  Qed.

  (** * The condition, in both ways *)

  (* The distance names bodies that both ends are in. *)
  Definition distance_placed (act : list loopid) (q : loopid) (x : distance) : Prop :=
    match x with
    | Carried s _ | Element s _ _ _ _ => In s act /\ In s (path T q)
    | Flat _ => True
    end.

  Theorem counts_are_vectors e n p c m : walk C guard ctl Ps c0 e n p c m ->
    forall q x r, distance_placed (active (kon p)) q x ->
      (unowed (trips (kon p)) m q x \/ needed (trips (kon p)) m q x <= r <->
       unless_unowed T (kon p) m q x (fun g => asked T m q g <= r)).
  Proof.
    intros W q x r HP. pose proof (walk_adequate _ _ _ _ _ W) as A.
    pose proof (walk_keeps T C guard ctl Ps c0 HWF _ _ _ _ _ W) as [IW IH _].
    destruct HWF as [HR _].
    destruct x as [s d|f|s d b back ahead]; cbn [unowed needed unless_unowed asked distance_placed]
      in *.
    - destruct HP as [Hs Hq].
      rewrite (underflow_is_first_iterations T e p HR IW s d Hs).
      destruct (le_lt_dec (trips (kon p) s) d) as [|L]; [tauto|].
      rewrite <- (past_counts_entries_up_to T e p m HR IW IH A s q d Hs Hq L). reflexivity.
    - rewrite <- (total_counts_entries T p m A q), Nat.min_l by lia. reflexivity.
    - destruct HP as [Hs Hq].
      rewrite (underflow_is_first_iterations T e p HR IW s d Hs).
      destruct (le_lt_dec (trips (kon p) s) d) as [|L]; [tauto|].
      rewrite (past_counts_entries_in T e p m HR IW IH A s q d Hs Hq L).
      fold (earlier T (kon p) s d).
      rewrite (past_counts_entries_before T p m A s q d Hs Hq L).
      rewrite Nat.add_min_distr_l. tauto.
  Qed.
End Walk.
