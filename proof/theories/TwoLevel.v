(* TwoLevel.v -- distances with a component on each of two nested loops are equation 1, too

   Purpose   [Element] counts runs within an iteration of s. If the producer's loop lies directly in
             s, its entries in one iteration of s are numbered 1, 2, 3 ...; so the first n of them
             are those up to vector (t, n), and the target is the paper's.
   Paper     section 3.2, equation 1, for distances that section 4.2 does not allocate
   C++       the two-level and element classes of lib/Sync/Forms.cpp
   Trusted   nothing *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics Decode Expr Checker Invariant Legality.
From Tally Require Import Vectors SequentialOrder VectorInvariant Adequacy StillToCome DataSound.

Lemma lex_le_last a : forall b x n, length a = length b ->
  lex_le (a ++ [x]) (b ++ [n]) = lex_lt a b || vec_eqb a b && (x <=? n).
Proof.
  induction a as [|y a IH]; destruct b as [|z b]; simpl; intros x n L; try discriminate.
  - rewrite andb_true_r. destruct (Nat.ltb_spec x n), (Nat.eqb_spec x n), (Nat.leb_spec x n);
      simpl; lia || auto.
  - rewrite IH by lia. destruct (y <? z), (y =? z); reflexivity.
Qed.

Lemma none_up_to m c : forall l, m < l -> filter (fun i => i <=? m) (seq l c) = [].
Proof.
  induction c; simpl; intros l L; auto. destruct (Nat.leb_spec l m); [lia|]. apply IHc. lia.
Qed.

Lemma count_up_to c : forall n a, count_if (fun i => i <=? a + n) (seq (S a) c) = Nat.min n c.
Proof.
  unfold count_if. induction c as [|c IH]; intros n a; [simpl; lia|].
  destruct n as [|n]; [now rewrite none_up_to by lia|]. cbn [seq filter].
  destruct (Nat.leb_spec (S a) (a + S n)); [|lia]. cbn [length].
  replace (a + S n) with (S a + n) by lia. rewrite IH. lia.
Qed.

Lemma vec_eqb_refl a : vec_eqb a a = true.
Proof. induction a; simpl; auto. now rewrite Nat.eqb_refl. Qed.

Lemma filter_filter {A} (f g : A -> bool) xs :
  filter (fun x => f x && g x) xs = filter g (filter f xs).
Proof.
  induction xs as [|x xs IH]; simpl; auto. destruct (f x); simpl; rewrite IH; reflexivity.
Qed.

Section TwoLevel.
  Variable T : tables.
  Variable C : Type.
  Variables (guard : engine -> loopid -> C -> bool) (ctl : engine -> loopid -> C -> C).
  Variable Ps : code instr.
  Variable c0 : engine -> C.
  Variable hi : nat.
  Hypothesis HWF : well_formed T Ps.
  Hypothesis HN : numbered 1 Ps = Some hi.
  Notation walk := (walk C guard ctl Ps c0).

  Variables s q : loopid.
  Hypothesis HD : directly_in T q s.

  Definition in_iteration (t v : list nat) : bool := vec_eqb (firstn (depth T s) v) t.

  (* Entries of q in one iteration of s are numbered from 1 on ... *)
  Definition consecutive (m : counts) : Prop := forall t,
    filter (in_iteration t) (entries_of m q) =
    map (fun i => t ++ [i]) (seq 1 (entries_in T m s q t)).

  (* ... up to the current one. *)
  Definition current_last (k : kont instr) (m : counts) : Prop := In q (active k) ->
    entries_in T m s q (iteration T k s) = trips k q.

  Lemma s_not_q : s <> q.
  Proof. destruct HD as [E I]. intros <-. apply (f_equal (@length _)) in E. simpl in E. lia. Qed.

  Lemma around_direct e k : wfk T e k -> In q (active k) -> In s (active k).
  Proof.
    intros W Hq. destruct HD as [E I]. eapply path_of_active; eauto; [apply HWF|].
    rewrite E. now right.
  Qed.

  Theorem walk_consecutive e n p c m : walk e n p c m -> consecutive m /\ current_last (kon p) m.
  Proof.
    destruct HWF as [HR _]. destruct HD as [E I].
    induction 1 as [|n i cu co k c m W [IC IL]|n p c m p' c' ev W [IC IL] St].
    - split.
      + intros t. unfold entries_in, count_if, entries_of. cbn [log counts0 filter fst snd].
        destruct (Nat.eqb_spec ROOT q) as [EQ|]; [|reflexivity]. exfalso. apply s_not_q.
        rewrite <- EQ, HR in E. inversion E as [E']. rewrite <- E' in I. contradiction.
      + intros [EQ|[]]. exfalso. apply s_not_q.
        rewrite <- EQ, HR in E. inversion E as [E']. rewrite <- E' in I. contradiction.
    - split; auto.
    - pose proof (walk_keeps T C guard ctl Ps c0 HWF _ _ _ _ _ W) as [IW IH _].
      pose proof (walk_adequate T C guard ctl Ps c0 hi HWF HN _ _ _ _ _ W) as A.
      pose proof (wfp_step T C guard ctl _ _ _ _ _ _ St IW) as IW'.
      destruct ev as [l|]; cbn [count_event].
      + destruct (Nat.eq_dec l q) as [->|NE].
        * (* one more entry of q *)
          pose proof (entered_path T C guard ctl _ _ _ _ _ _ St IW) as HP.
          assert (Hs' : In s (active (kon p'))) by (rewrite <- HP, E; now right).
          destruct (other_iterations T C guard ctl _ _ _ _ _ _ St IW HR s Hs' s_not_q)
            as (Hs & EI & _).
          assert (EV : vector (kon p') = iteration T (kon p) s ++ [trips (kon p) q + 1]).
          { rewrite (entered_vector T C guard ctl _ _ _ _ _ _ St IW).
            rewrite (iteration_split T _ _ _ E), <- EI. unfold iteration. f_equal.
            rewrite (trips_on_entry T C guard ctl _ _ _ _ _ _ St IW), Nat.eqb_refl. reflexivity. }
          assert (LI : length (iteration T (kon p) s) = depth T s) by apply iteration_length.
          assert (PRE : firstn (depth T s) (vector (kon p')) = iteration T (kon p) s).
          { rewrite EV, <- LI, firstn_app, Nat.sub_diag, firstn_all. apply app_nil_r. }
          assert (LAST : entries_in T m s q (iteration T (kon p) s) = trips (kon p) q).
          { destruct (in_dec Nat.eq_dec q (active (kon p))) as [Act|Act]; [auto|].
            rewrite (trips_outside T e (kon p) q (proj1 IW) Act).
            apply count_if_none. intros v Hv.
            assert (TC : In q (loops_of (cod p)) /\ owner (kon p) = s).
            { assert (OW : forall k, wfk T e k -> active (kon p') = q :: active k ->
                owner k = s).
              { intros k Wk EA. rewrite <- HP, E in EA. inversion EA as [EA'].
                assert (Hk : In s (active k)) by (rewrite <- EA'; exact I).
                destruct (active_head_in_path T e k s HR Wk Hk) as [rest PS].
                unfold owner. rewrite <- EA', PS. reflexivity. }
              unfold wfp in IW. inversion St; subst; cbn [kon cod active loops_of] in *.
              - split; [now left|]. apply OW; tauto.
              - exfalso. apply Act. now left.
              - split; [now left|]. apply OW; tauto.
              - split; [right; apply in_or_app; right; now left|]. apply OW; tauto. }
            destruct TC as [TC <-]. apply lex_lt_neq_sym.
            apply (ad_code _ _ _ A q q v TC); auto. rewrite E. now left. }
          split.
          -- intros t. unfold entries_in. rewrite entries_after_entry, Nat.eqb_refl.
             rewrite filter_app, count_if_app. fold (entries_in T m s q t). rewrite (IC t).
             unfold count_if. cbn [filter]. unfold in_iteration. rewrite PRE.
             destruct (vec_eqb (iteration T (kon p) s) t) eqn:EQ; cbn [length].
             ++ apply vec_eqb_eq in EQ. subst t. rewrite LAST, seq_app, map_app. cbn [seq map].
                rewrite EV. replace (1 + trips (kon p) q) with (trips (kon p) q + 1) by lia.
                reflexivity.
             ++ now rewrite app_nil_r, Nat.add_0_r.
          -- intros _. rewrite EI. unfold entries_in. rewrite entries_after_entry, Nat.eqb_refl.
             rewrite count_if_app. fold (entries_in T m s q (iteration T (kon p) s)).
             rewrite LAST, (trips_on_entry T C guard ctl _ _ _ _ _ _ St IW), Nat.eqb_refl.
             unfold count_if. cbn [filter]. rewrite PRE, vec_eqb_refl. reflexivity.
        * assert (EE : entries_of (enter_counts (kon p') l m) q = entries_of m q).
          { rewrite entries_after_entry. destruct (Nat.eqb_spec l q); [contradiction|].
            apply app_nil_r. }
          split.
          -- intros t. unfold entries_in. rewrite EE. apply IC.
          -- intros Act. pose proof (around_direct _ _ (proj1 IW') Act) as Hs'.
             assert (Hq : In q (active (kon p))).
             { destruct (entered_body T C guard ctl _ _ _ _ _ _ St IW) as (_ & _ & _ & Hin & _).
               destruct (Hin q Act); [congruence|auto]. }
             assert (NS : s <> l).
             { intros ->. apply (entered_innermost T C guard ctl _ _ _ _ _ _ q St IW HR Act); auto.
               rewrite E. now right. }
             destruct (other_iterations T C guard ctl _ _ _ _ _ _ St IW HR s Hs' NS)
                 as (_ & EI & _).
             rewrite EI, (trips_on_entry T C guard ctl _ _ _ _ _ _ St IW).
             destruct (Nat.eqb_spec q l); [congruence|]. unfold entries_in. rewrite EE.
             now apply IL.
      + split; auto. intros Act. pose proof (around_direct _ _ (proj1 IW') Act) as Hs'.
        pose proof (no_entry_no_new_body _ _ _ _ _ _ _ _ St) as Sub.
        rewrite (iteration_kept T C guard ctl _ _ _ _ _ _ St IW HR Hs'), (IL (Sub _ Act)).
        pose proof (iteration_kept T C guard ctl _ _ _ _ _ _ St IW HR Act) as Same.
        rewrite !(iteration_split T _ _ _ E) in Same. apply app_inj_tail in Same as [_ Same].
        now symmetry.
  Qed.

  (* The first n entries of q in iteration t of s, and all before, are those up to (t, n). *)
  Theorem element_is_vector e n p c m t i : walk e n p c m -> length t = depth T s ->
    asked T m q (UpToElement s t i) = entries_up_to T m q q (t ++ [i]).
  Proof.
    intros W LT. destruct (walk_consecutive _ _ _ _ _ W) as [IC _].
    pose proof (walk_adequate T C guard ctl Ps c0 hi HWF HN _ _ _ _ _ W) as A.
    destruct HD as [E I]. cbn [asked]. unfold entries_up_to, entries_before.
    assert (SHAPE : forall v, In v (entries_of m q) ->
      exists x, v = firstn (depth T s) v ++ [x] /\ length (firstn (depth T s) v) = depth T s).
    { intros v Hv. destruct (vo_entry _ _ _ (ad_vectors _ _ _ A) _ _ Hv) as [LV _].
      unfold depth in *. rewrite E in LV. simpl in LV.
      assert (LS : length (skipn (length (path T s)) v) = 1) by (rewrite skipn_length; lia).
      destruct (skipn (length (path T s)) v) as [|x [|]] eqn:SK; try discriminate.
      exists x. rewrite <- SK at 1. rewrite firstn_skipn, firstn_length. split; auto. lia. }
    symmetry. rewrite (count_if_split
      (fun v => lex_lt (firstn (depth T s) v) t)
      (fun v => in_iteration t v && (last v 0 <=? i))).
    - f_equal. unfold count_if. rewrite filter_filter, (IC t).
      rewrite <- (count_up_to (entries_in T m s q t) i 0). unfold count_if.
      generalize (seq 1 (entries_in T m s q t)). intros xs. cbn [Nat.add].
      induction xs as [|x xs IHx]; auto. cbn [map filter]. rewrite last_last.
      destruct (x <=? i); simpl; now rewrite IHx.
    - intros v Hv. destruct (SHAPE v Hv) as (x & EV & LV).
      assert (FV : firstn (depth T q) v = v).
      { apply firstn_all2. destruct (vo_entry _ _ _ (ad_vectors _ _ _ A) _ _ Hv) as [-> _]. auto. }
      rewrite FV. unfold in_iteration. set (u := firstn (depth T s) v) in *. rewrite EV at 1 2 3.
      rewrite last_last, lex_le_last by lia. split; auto.
      destruct (lex_lt u t) eqn:L; auto. rewrite (lex_lt_neq_sym _ _ L). reflexivity.
  Qed.
End TwoLevel.
