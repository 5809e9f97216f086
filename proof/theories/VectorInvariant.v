(* VectorInvariant.v -- entry counts and iteration vectors go together, along the walk of an engine

   Purpose   For a position inside body s and an iteration t of s, k before the current one and in
             the same trip: the entries of p before t number [past m s (k+1) p]. This is kept by
             every step, and is what Adequacy.v counts with.
   Paper     appendix A.1: "each monotone entry of S bijects with exactly one iteration vector"
   C++       -
   Trusted   nothing

   Bodies are numbered in textual order, so that what is still to come of an iteration is told from
   what has been; that is also what makes ids unique. *)

From Coq Require Import List Arith Lia Bool Sorted.
Import ListNotations.
From Tally Require Import Syntax Semantics Decode Expr Checker Invariant Legality Vectors.
From Tally Require Import SequentialOrder.

(** * Numbers at a position *)

Definition all_below (xs : list loopid) (n : nat) : Prop := forall a, In a xs -> a < n.

Lemma all_below_le xs n m : all_below xs n -> n <= m -> all_below xs m.
Proof. intros H L a Ha. specialize (H a Ha). lia. Qed.

Lemma all_below_cons l xs n : all_below xs n -> l < n -> all_below (l :: xs) n.
Proof. intros H L a [<-|Ha]; auto. Qed.

(* What encloses a position is numbered, from h on. *)
Fixpoint kont_numbered (h : nat) (k : kont instr) : Prop :=
  match k with
  | KStop => True
  | KLoop l n b r k =>
      (exists lo, all_below (l :: active k) lo /\ numbered lo b = Some h) /\
      exists h', numbered h r = Some h' /\ kont_numbered h' k
  | KCond l r k =>
      exists m h', h <= m /\ all_below (active k) m /\ numbered m r = Some h' /\ kont_numbered h' k
  end.

Definition pos_numbered (p : pos instr) : Prop :=
  exists lo h, all_below (active (kon p)) lo /\ numbered lo (cod p) = Some h /\
    kont_numbered h (kon p).

Section Adequacy.
  Variable T : tables.
  Variable C : Type.
  Variables (guard : engine -> loopid -> C -> bool) (ctl : engine -> loopid -> C -> C).

  Lemma pos_numbered_step e p c p' c' ev :
    cstep guard ctl e p c p' c' ev -> pos_numbered p -> pos_numbered p'.
  Proof.
    intros St (lo & h & HA & HC & HK).
    destruct St; cbn [cod kon] in *; cbn [numbered kont_numbered active] in *; numbered_cases HC.
    - exists lo, h. auto.
    - exists (S l), n. cbn. split.
      + apply all_below_cons; auto. eapply all_below_le; eauto.
      + split; auto. split; [|eauto]. exists (S l). split; auto.
        apply all_below_cons; auto. eapply all_below_le; eauto.
    - exists n, h. cbn. apply numbered_monotone in E. split; auto. eapply all_below_le; eauto. lia.
    - inversion HC; subst h. destruct HK as ((lo' & HB & Eb) & h' & Er & K).
      exists lo', lo. cbn. split; auto. split; auto. split; eauto.
    - inversion HC; subst h. destruct HK as ((lo' & HB & Eb) & h' & Er & K).
      exists lo, h'. cbn. split; auto. intros a Ha. apply HA. now right.
    - exists (S lt), n. cbn. pose proof (numbered_monotone _ _ _ E).
      pose proof (numbered_monotone _ _ _ E0). split.
      + apply all_below_cons; auto. eapply all_below_le; eauto.
      + split; auto. exists n0, h. split; [lia|]. split; auto. eapply all_below_le; eauto. lia.
    - exists (S lf), n0. cbn. pose proof (numbered_monotone _ _ _ E).
      pose proof (numbered_monotone _ _ _ E0). split.
      + apply all_below_cons; auto. eapply all_below_le; eauto. lia.
      + split; auto. exists n0, h. split; auto. split; auto. eapply all_below_le; eauto. lia.
    - inversion HC; subst h. destruct HK as (m & h' & L & HB & Er & K).
      exists m, h'. cbn. auto.
  Qed.

  (** * Paths *)

  Definition suffix (a b : list loopid) : Prop := exists pre, b = pre ++ a.

  (* A body's path ends with the path of each body on it. *)
  Definition path_closed (p : loopid) : Prop := forall x, In x (path T p)
      -> suffix (path T x) (path T p).

  Lemma path_suffix_of_active e k x : path T ROOT = [ROOT] -> wfk T e k -> In x (active k) ->
    suffix (path T x) (active k).
  Proof.
    intros HR. induction k; cbn [wfk active]; intros W Hx.
    - destruct Hx as [<-|[]]. rewrite HR. exists []. reflexivity.
    - destruct W as (((_ & H & _) & _) & _ & _ & W). destruct Hx as [<-|Hx].
      + rewrite H. exists []. reflexivity.
      + destruct (IHk W Hx) as [pre E]. exists (l :: pre). now rewrite E.
    - destruct W as (_ & H & _ & W). destruct Hx as [<-|Hx].
      + rewrite H. exists []. reflexivity.
      + destruct (IHk W Hx) as [pre E]. exists (l :: pre). now rewrite E.
  Qed.

  (* The path of a body in the code goes through all that encloses the code. *)
  Lemma loops_inside e act c x : wfc T e act c -> In x (loops_of c) -> incl act (path T x).
  Proof.
    revert act. induction c; cbn [wfc loops_of]; intros act W Hx.
    - contradiction.
    - apply IHc; auto. apply W.
    - destruct W as ((_ & H & _) & W1 & W2). destruct Hx as [<-|Hx].
      + rewrite H. apply incl_tl, incl_refl.
      + apply in_app_or in Hx as [Hx|Hx]; [|apply IHc2; auto].
        pose proof (IHc1 _ W1 Hx) as K. intros a Ha. apply K. now right.
    - destruct W as ((_ & H & _) & (_ & H' & _) & W1 & W2 & W3). destruct Hx as [<-|Hx].
      { rewrite H. apply incl_tl, incl_refl. }
      apply in_app_or in Hx as [Hx|Hx].
      + pose proof (IHc1 _ W1 Hx) as K. intros a Ha. apply K. now right.
      + destruct Hx as [<-|Hx]; [rewrite H'; apply incl_tl, incl_refl|].
        apply in_app_or in Hx as [Hx|Hx]; [|apply IHc3; auto].
        pose proof (IHc2 _ W2 Hx) as K. intros a Ha. apply K. now right.
  Qed.

  Lemma active_head_in_path e k s : path T ROOT = [ROOT] -> wfk T e k -> In s (active k) ->
    exists rest, path T s = s :: rest.
  Proof.
    intros HR. induction k; cbn [wfk active]; intros W Hs.
    - destruct Hs as [<-|[]]. rewrite HR. eauto.
    - destruct W as (((_ & H & _) & _) & _ & _ & W). destruct Hs as [<-|Hs]; eauto.
    - destruct W as (_ & H & _ & W). destruct Hs as [<-|Hs]; eauto.
  Qed.

  Lemma iteration_length {A} (k : kont A) s : length (iteration T k s) = depth T s.
  Proof. unfold iteration, depth. now rewrite rev_length, map_length. Qed.

  (* The outer part of an iteration vector is the iteration of the outer body. *)
  Lemma iteration_prefix {A} (k : kont A) s p : suffix (path T s) (path T p) ->
    firstn (depth T s) (iteration T k p) = iteration T k s.
  Proof.
    intros [pre E]. unfold iteration, depth. rewrite E, map_app, rev_app_distr.
    rewrite firstn_app, rev_length, map_length, Nat.sub_diag. simpl.
    rewrite app_nil_r, <- (map_length (trips k)), <- rev_length. apply firstn_all.
  Qed.

  Lemma iteration_ext {A B} (k : kont A) (k' : kont B) s :
    (forall x, In x (path T s) -> trips k x = trips k' x) -> iteration T k s = iteration T k' s.
  Proof. intros H. unfold iteration. f_equal. apply map_ext_in. exact H. Qed.

  (* Iteration of s, d earlier in the same trip. *)
  Definition earlier {A} (k : kont A) (s : loopid) (d : nat) : list nat :=
    minus (iteration T k s) (distance_on T s d).

  Lemma iteration_split {A} (k : kont A) s rest : path T s = s :: rest ->
    iteration T k s = rev (map (trips k) rest) ++ [trips k s].
  Proof. intros E. unfold iteration. now rewrite E. Qed.

  Lemma earlier_split {A} (k : kont A) s rest d : path T s = s :: rest ->
    earlier k s d = rev (map (trips k) rest) ++ [trips k s - d].
  Proof.
    intros E. unfold earlier, distance_on, depth. rewrite (iteration_split _ _ _ E), E.
    simpl. rewrite Nat.sub_0_r.
    replace (length rest) with (length (rev (map (trips k) rest)))
      by now rewrite rev_length, map_length.
    apply minus_last.
  Qed.

  (** * The invariant *)

  (* The bodies in c have not been entered in the current iteration of what encloses them. *)
  Definition to_come (m : counts) (c : code instr) (k : kont instr) : Prop :=
    forall x p v, In x (loops_of c) -> In x (path T p) -> In v (entries_of m p) ->
      lex_lt (firstn (depth T (owner k)) v) (iteration T k (owner k)) = true.

  Fixpoint rests_to_come (m : counts) (k : kont instr) : Prop :=
    match k with
    | KStop => True
    | KLoop _ _ _ r k | KCond _ r k => to_come m r k /\ rests_to_come m k
    end.

  Record vectors_ok (k : kont instr) (m : counts) : Prop := {
    vo_entry : forall p v, In v (entries_of m p) -> length v = depth T p /\ path_closed p;
    vo_total : forall p, tot m p = length (entries_of m p);
    vo_sorted : forall p, StronglySorted (fun a b => lex_lt a b = true) (entries_of m p);
    vo_past : forall s p v, In s (active k) -> In s (path T p) -> In v (entries_of m p) ->
      lex_le (firstn (depth T s) v) (iteration T k s) = true;
    vo_before : forall s p d, In s (active k) -> In s (path T p) -> d < trips k s ->
      entries_before T m s p (earlier k s d) = past m s (d + 1) p }.

  Lemma entries_after_entry {A} (k : kont A) l m p : entries_of (enter_counts k l m) p =
    entries_of m p ++ (if l =? p then [vector k] else []).
  Proof.
    unfold entries_of. cbn [log enter_counts]. rewrite filter_app, map_app. simpl.
    destruct (l =? p); reflexivity.
  Qed.

  Lemma to_come_unaffected m c k {A} (k' : kont A) l :
    (forall x, In x (loops_of c) -> ~ In x (path T l)) ->
    to_come m c k -> to_come (enter_counts k' l m) c k.
  Proof.
    intros H N x p v Hx Hp Hv. rewrite entries_after_entry in Hv.
    apply in_app_or in Hv as [Hv|Hv]; [eapply N; eauto|].
    destruct (Nat.eqb_spec l p) as [->|]; [|contradiction]. exfalso. exact (H x Hx Hp).
  Qed.

  Lemma rests_unaffected m {A} (k' : kont A) l k : forall h, kont_numbered h k ->
    (forall x, h <= x -> ~ In x (path T l)) ->
    rests_to_come m k -> rests_to_come (enter_counts k' l m) k.
  Proof.
    induction k; cbn [kont_numbered rests_to_come]; intros h HK H N; auto.
    - destruct HK as (_ & h' & Er & K). pose proof (numbered_monotone _ _ _ Er).
      split.
      + apply to_come_unaffected; [|apply N]. intros x Hx. apply H.
        pose proof (numbered_loops _ _ _ _ Er Hx). lia.
      + eapply IHk; eauto; [|apply N]. intros x Hx. apply H. lia.
    - destruct HK as (m' & h' & L & _ & Er & K). pose proof (numbered_monotone _ _ _ Er).
      split.
      + apply to_come_unaffected; [|apply N]. intros x Hx. apply H.
        pose proof (numbered_loops _ _ _ _ Er Hx). lia.
      + eapply IHk; eauto; [|apply N]. intros x Hx. apply H. lia.
  Qed.

  Lemma sorted_snoc {A} (R : A -> A -> Prop) xs x : StronglySorted R xs ->
    (forall y, In y xs -> R y x) -> StronglySorted R (xs ++ [x]).
  Proof.
    induction 1 as [|y ys S IH F]; simpl; intros H.
    - constructor; constructor.
    - constructor; [apply IH; auto|]. apply Forall_app. split; auto.
  Qed.

  (** ** Entering a body *)

  Section Enter.
    Variables (e : engine) (p p' : pos instr) (c c' : C) (l : loopid) (m : counts).
    Hypothesis St : cstep guard ctl e p c p' c' (Some l).
    Hypothesis W : wfp T e p.
    Hypothesis HR : path T ROOT = [ROOT].
    Hypothesis H : HI T m (active (kon p)).
    Hypothesis V : vectors_ok (kon p) m.
    Hypothesis N : to_come m (cod p) (kon p).
    Let m' := enter_counts (kon p') l m.

    Lemma entered_path : path T l = active (kon p').
    Proof. now destruct (entered_body _ _ _ _ _ _ _ _ _ _ St W) as (_ & HP & _). Qed.

    Lemma entered_closed : path_closed l.
    Proof.
      intros x Hx. rewrite entered_path in *. eapply path_suffix_of_active; eauto.
      eapply (proj1 (wfp_step _ _ _ _ _ _ _ _ _ _ St W)).
    Qed.

    Lemma entered_vector : vector (kon p') = iteration T (kon p') l.
    Proof. unfold vector, iteration. now rewrite entered_path. Qed.

    (* Iterations of other active bodies go on. *)
    Lemma other_iterations s : In s (active (kon p')) -> s <> l ->
      In s (active (kon p)) /\ iteration T (kon p') s = iteration T (kon p) s /\
      forall d, earlier (kon p') s d = earlier (kon p) s d.
    Proof.
      intros Hs NE. destruct (entered_body _ _ _ _ _ _ _ _ _ _ St W) as (_ & _ & _ & Hin & _).
      assert (E : iteration T (kon p') s = iteration T (kon p) s).
      { apply iteration_ext. intros x Hx. rewrite (trips_on_entry _ _ _ _ _ _ _ _ _ _ St W).
        destruct (Nat.eqb_spec x l) as [->|]; auto. exfalso.
        exact (entered_innermost _ _ _ _ _ _ _ _ _ _ _ St W HR Hs NE Hx). }
      split; [destruct (Hin s Hs); [congruence|auto]|]. split; auto.
      intros d. unfold earlier. now rewrite E.
    Qed.

    (* The new iteration of l comes after all entries so far of what lies in l. *)
    Lemma entered_is_latest q v : In l (path T q) -> In v (entries_of m q) ->
      lex_lt (firstn (depth T l) v) (iteration T (kon p') l) = true.
    Proof.
      intros Hq Hv. pose proof entered_path as HP. destruct (vo_entry _ _ V _ _ Hv) as [LV CL].
      assert (Len : depth T l <= length v).
      { rewrite LV. destruct (CL l Hq) as [pre E]. unfold depth. rewrite E, app_length. lia. }
      assert (FIRST : forall k, kon p = k -> active (kon p') = l :: active k ->
        wfk T e k -> In l (loops_of (cod p)) ->
        lex_lt (firstn (depth T l) v) (iteration T (kon p') l) = true).
      { intros k EK EA Wk Hl. specialize (N l q v Hl Hq Hv). rewrite EK in N.
        assert (PL : path T l = l :: path T (owner k)).
        { rewrite HP, EA. f_equal. symmetry. eapply path_of_owner; eauto. }
        rewrite (iteration_split _ _ _ PL).
        apply (lex_lt_outer _ _ (depth T (owner k))).
        - rewrite firstn_firstn.
          replace (Nat.min (depth T (owner k)) (depth T l)) with (depth T (owner k))
            by (unfold depth; rewrite PL; simpl; lia).
          replace (rev (map (trips (kon p')) (path T (owner k))))
              with (iteration T k (owner k)); auto.
          apply iteration_ext. intros x Hx.
          rewrite (trips_on_entry _ _ _ _ _ _ _ _ _ _ St W), EK.
          destruct (Nat.eqb_spec x l) as [->|]; auto. exfalso.
          assert (Ho : In (owner k) (active (kon p'))) by (rewrite EA; right; apply owner_active).
          eapply (entered_innermost _ _ _ _ _ _ _ _ _ _ _ St W HR Ho); eauto.
          intros E. rewrite E in *. unfold depth in *.
          assert (length (path T l) = S (length (path T l))) by (rewrite PL at 1; auto). lia.
        - rewrite rev_length, map_length. reflexivity. }
      clear N. unfold wfp in W. inversion St; subst; cbn [kon cod] in *.
      - eapply FIRST; try reflexivity; [apply W|]. simpl. auto.
      - assert (PL : path T l = l :: active k) by exact HP.
        eapply lex_lt_trans_le.
        + eapply (vo_past _ _ V l q v); auto. simpl. auto.
        + assert (EM : map (trips (KLoop l (S n) b r k)) (active k) =
                       map (trips (KLoop l n b r k)) (active k)).
          { apply map_ext_in. intros x Hx. simpl. destruct (Nat.eqb_spec x l) as [->|]; auto.
            exfalso. cbn [wfk] in W. apply W in Hx. exact Hx. }
          rewrite !(iteration_split _ _ _ PL), EM, lex_lt_last. apply Nat.ltb_lt.
          simpl. rewrite Nat.eqb_refl. lia.
        + rewrite firstn_length, iteration_length. lia.
      - eapply FIRST; try reflexivity; [apply W|]. simpl. auto.
      - eapply FIRST; try reflexivity; [apply W|]. simpl. right. apply in_or_app. right. simpl.
        auto.
    Qed.

    Lemma vectors_ok_entry : vectors_ok (kon p') m'.
    Proof.
      pose proof entered_path as HP. pose proof entered_closed as HC.
      destruct (entered_body _ _ _ _ _ _ _ _ _ _ St W) as (_ & _ & Hl & _ & _).
      assert (NEW : forall s, In s (active (kon p')) ->
                firstn (depth T s) (vector (kon p')) = iteration T (kon p') s).
      { intros s Hs. rewrite entered_vector. apply iteration_prefix, HC. now rewrite HP. }
      assert (Wk' : wfk T e (kon p')) by apply (wfp_step _ _ _ _ _ _ _ _ _ _ St W).
      constructor.
      - intros q v Hv. unfold m' in Hv. rewrite entries_after_entry in Hv.
        apply in_app_or in Hv as [Hv|Hv]; [eapply (vo_entry _ _ V); eauto|].
        destruct (Nat.eqb_spec l q) as [<-|]; [|contradiction]. destruct Hv as [<-|[]].
        split; auto. rewrite entered_vector. apply iteration_length.
      - intros q. unfold m'. rewrite entries_after_entry, app_length, <- (vo_total _ _ V).
        destruct (Nat.eqb_spec l q) as [<-|NE].
        + rewrite tot_entered. reflexivity.
        + rewrite tot_not_entered by auto. simpl. lia.
      - intros q. unfold m'. rewrite entries_after_entry.
        destruct (Nat.eqb_spec l q) as [<-|NE]; [|rewrite app_nil_r; apply (vo_sorted _ _ V)].
        assert (In l (path T l)) by (rewrite HP; exact Hl).
        apply sorted_snoc; [apply (vo_sorted _ _ V)|]. intros v Hv.
        rewrite entered_vector. pose proof (entered_is_latest l v H0 Hv) as L.
        destruct (vo_entry _ _ V _ _ Hv) as [LV _]. rewrite <- LV, firstn_all in L. exact L.
      - intros s q v Hs Hq Hv. unfold m' in Hv. rewrite entries_after_entry in Hv.
        apply in_app_or in Hv as [Hv|Hv].
        + destruct (Nat.eq_dec s l) as [->|NE].
          * pose proof (entered_is_latest q v Hq Hv) as L.
            destruct (vo_entry _ _ V _ _ Hv) as [LV CL].
            rewrite lex_le_split, L; auto. rewrite firstn_length, iteration_length, LV.
            destruct (CL l Hq) as [pre E]. unfold depth. rewrite E, app_length. lia.
          * destruct (other_iterations s Hs NE) as (Hs' & -> & _). eapply (vo_past _ _ V); eauto.
        + destruct (Nat.eqb_spec l q) as [<-|]; [|contradiction]. destruct Hv as [<-|[]].
          rewrite NEW by auto. apply lex_le_refl.
      - intros s q d Hs Hq Hd. destruct (active_head_in_path e _ s HR Wk' Hs) as [rest PS].
        unfold entries_before, m'. rewrite entries_after_entry, count_if_app.
        (* the new entry is not before any iteration of s up to now *)
        assert (ZERO : count_if (fun v => lex_lt (firstn (depth T s) v) (earlier (kon p') s d))
                  (if l =? q then [vector (kon p')] else []) = 0).
        { destruct (Nat.eqb_spec l q) as [<-|]; [|reflexivity]. unfold count_if. simpl.
          rewrite NEW, (iteration_split _ _ _ PS), (earlier_split _ _ _ _ PS), lex_lt_last by auto.
          destruct (Nat.ltb_spec (trips (kon p') s) (trips (kon p') s - d)); [lia|reflexivity]. }
        rewrite ZERO, Nat.add_0_r. clear ZERO.
        destruct (Nat.eq_dec s l) as [->|NE].
        + rewrite past_shifts. destruct d as [|d].
          * rewrite count_if_all.
            2:{ intros v Hv. rewrite (earlier_split _ _ _ _ PS), Nat.sub_0_r, <- iteration_split;
                  auto. now apply (entered_is_latest q). }
            rewrite <- (vo_total _ _ V). symmetry. eapply past_0; eauto.
          * pose proof (trips_on_entry _ _ _ _ _ _ _ _ _ _ St W) as HT.
            assert (TL : trips (kon p') l = trips (kon p) l + 1).
            { rewrite HT, Nat.eqb_refl. reflexivity. }
            rewrite TL in Hd.
            assert (Act : In l (active (kon p))).
            { destruct (in_dec Nat.eq_dec l (active (kon p))) as [|X]; auto.
              rewrite (trips_outside T e (kon p) l (proj1 W) X) in Hd. lia. }
            replace (S d) with (d + 1) by lia.
            rewrite <- (vo_before _ _ V l q d Act Hq ltac:(lia)). unfold entries_before.
            apply count_if_ext. intros v _. f_equal.
            rewrite !(earlier_split _ _ _ _ PS), TL. f_equal; [|f_equal; lia].
            f_equal. apply map_ext_in. intros x Hx. rewrite HT.
            destruct (Nat.eqb_spec x l) as [->|]; auto. exfalso.
            assert (ND : ~ In l rest).
            { rewrite HP in PS. unfold wfp in W.
              inversion St; subst; cbn [kon cod wfk wfc active]
                  in *; inversion PS; subst; apply W. }
            exact (ND Hx).
        + destruct (other_iterations s Hs NE) as (Hs' & _ & EE). rewrite EE.
          rewrite past_keeps by lia. unfold entries_before in *. apply (vo_before _ _ V); auto.
          rewrite (trips_on_entry _ _ _ _ _ _ _ _ _ _ St W) in Hd.
          destruct (Nat.eqb_spec s l); [congruence|auto].
    Qed.

    (* What is to come inside the new iteration has not been entered in it. *)
    Lemma to_come_inside b : wfc T e (active (kon p')) b -> owner (kon p') = l ->
      (forall x, In x (loops_of b) -> ~ In x (path T l)) -> to_come m' b (kon p').
    Proof.
      intros Wb EO Fresh x q v Hx Hq Hv. rewrite EO. unfold m' in Hv.
      rewrite entries_after_entry in Hv. apply in_app_or in Hv as [Hv|Hv].
      - apply (entered_is_latest q); auto. destruct (vo_entry _ _ V _ _ Hv) as [_ CL].
        destruct (CL x Hq) as [pre E]. rewrite E. apply in_or_app. right.
        apply (loops_inside _ _ _ _ Wb Hx).
        destruct (entered_body _ _ _ _ _ _ _ _ _ _ St W) as (_ & _ & Hl & _). exact Hl.
      - destruct (Nat.eqb_spec l q) as [<-|]; [|contradiction]. exfalso. exact (Fresh x Hx Hq).
    Qed.
  End Enter.

  Record adequate (p : pos instr) (m : counts) : Prop := {
    ad_vectors : vectors_ok (kon p) m;
    ad_code : to_come m (cod p) (kon p);
    ad_rests : rests_to_come m (kon p);
    ad_numbered : pos_numbered p }.

  Lemma vectors_ok_exit k k' m : vectors_ok k m -> (forall x, In x (active k')
      -> In x (active k)) ->
    (forall s, In s (active k') -> iteration T k' s = iteration T k s /\ trips k' s = trips k s) ->
    vectors_ok k' m.
  Proof.
    intros V I E. constructor; try apply V.
    - intros s p v Hs Hp Hv. destruct (E s Hs) as [-> _]. eapply (vo_past _ _ V); eauto.
    - intros s p d Hs Hp Hd. destruct (E s Hs) as [E1 E2]. unfold earlier. rewrite E1.
      apply (vo_before _ _ V); auto. lia.
  Qed.

  Lemma to_come_part m c r k : incl (loops_of r) (loops_of c) -> to_come m c k -> to_come m r k.
  Proof. intros I N x p v Hx. apply N. auto. Qed.

  Theorem adequate_step e p c p' c' ev m : cstep guard ctl e p c p' c' ev -> wfp T e p ->
    path T ROOT = [ROOT] -> HI T m (active (kon p)) -> adequate p m ->
    adequate p' (count_event (kon p') ev m).
  Proof.
    intros St W HR H [V N R M]. pose proof (pos_numbered_step _ _ _ _ _ _ St M) as M'.
    destruct ev as [l|]; cbn [count_event].
    - (* a body is entered *)
      pose proof (vectors_ok_entry _ _ _ _ _ _ _ St W HR H V N) as V'.
      pose proof (entered_path _ _ _ _ _ _ St W) as HP.
      pose proof (wfp_step _ _ _ _ _ _ _ _ _ _ St W) as W'.
      destruct M' as (lo & h & HB & HC & HK).
      assert (Fresh : forall x, lo <= x -> ~ In x (path T l)).
      { intros x Hx I. rewrite HP in I. specialize (HB x I). lia. }
      assert (FreshIn : forall x, In x (loops_of (cod p')) -> ~ In x (path T l)).
      { intros x Hx. apply Fresh. pose proof (numbered_loops _ _ _ _ HC Hx). lia. }
      assert (Inside : to_come (enter_counts (kon p') l m) (cod p') (kon p')).
      { eapply (to_come_inside e p p' c c'); eauto; [apply W'|].
        inversion St; subst; reflexivity. }
      constructor; auto; [|exists lo, h; auto].
      apply (rests_unaffected m (kon p') l (kon p') h HK).
      { intros x Hx. apply Fresh. apply numbered_monotone in HC. lia. }
      inversion St; subst; cbn [kon cod rests_to_come loops_of] in *.
      + split; auto. eapply to_come_part; [|exact N]. intros x Hx. right. apply in_or_app. auto.
      + exact R.
      + split; auto. eapply to_come_part; [|exact N]. intros x Hx. right. apply in_or_app. right.
        right. apply in_or_app. auto.
      + split; auto. eapply to_come_part; [|exact N]. intros x Hx. right. apply in_or_app. right.
        right. apply in_or_app. auto.
    - (* none is *)
      assert (EXIT : forall l n b r k, active (kon p) = l :: active k -> ~ In l (active k) ->
        (forall x, trips (kon p) x = if x =? l then n else trips k x) ->
        wfk T e k -> kon p' = k -> cod p' = r -> to_come m r k -> rests_to_come m k ->
        b = tt -> adequate p' m).
      { intros l n b r k EA NI ET Wk EK EC Nr Rk _. constructor; rewrite ?EK, ?EC; auto.
        apply (vectors_ok_exit (kon p)); auto.
        - intros x Hx. rewrite EA. now right.
        - intros s Hs. split.
          + apply iteration_ext. intros x Hx. rewrite ET.
            destruct (Nat.eqb_spec x l) as [->|]; auto. exfalso. apply NI.
            eapply path_of_active; eauto.
          + rewrite ET. destruct (Nat.eqb_spec s l) as [->|]; auto. contradiction. }
      unfold wfp in W. inversion St; subst; cbn [kon cod rests_to_come loops_of wfk] in *.
      + constructor; auto.
      + constructor; auto. cbn [cod kon]. eapply to_come_part; [|exact N]. simpl.
        intros x Hx. right. apply in_or_app. auto.
      + eapply (EXIT l n tt r k); auto; try apply W; try apply R; reflexivity.
      + eapply (EXIT l 1 tt r k); auto; try apply W; try apply R; reflexivity.
  Qed.

  Lemma adequate_initial Ps hi : path T ROOT = [ROOT] -> numbered 1 Ps = Some hi ->
    adequate (mkpos [] Ps KStop) counts0.
  Proof.
    intros HR HN.
    assert (E0 : forall p, entries_of counts0 p = if ROOT =? p then [[1]] else []).
    { intros p. unfold entries_of. cbn [log counts0 filter fst]. now destruct (ROOT =? p). }
    assert (EN : forall p v, In v (entries_of counts0 p) -> p = ROOT /\ v = [1]).
    { intros p v. rewrite E0. destruct (Nat.eqb_spec ROOT p) as [<-|]; [|contradiction].
      intros [<-|[]]. auto. }
    assert (IT : iteration T (@KStop instr) ROOT = [1]).
    { unfold iteration. rewrite HR. reflexivity. }
    constructor; cbn [kon cod rests_to_come].
    - constructor.
      + intros p v Hv. apply EN in Hv as [-> ->]. unfold depth. rewrite HR. split; auto.
        intros x. rewrite HR. intros [<-|[]]. exists []. now rewrite HR.
      + intros p. rewrite E0. cbn [tot counts0]. rewrite (Nat.eqb_sym p ROOT).
        now destruct (ROOT =? p).
      + intros p. rewrite E0. destruct (ROOT =? p); repeat constructor.
      + intros s p v [<-|[]] _ Hv. apply EN in Hv as [-> ->]. rewrite IT. unfold depth.
        rewrite HR. reflexivity.
      + intros s p d [<-|[]] Hp Hd. simpl in Hd. replace d with 0 by lia.
        unfold past, entries_before, earlier. rewrite E0, IT. unfold distance_on, depth.
        rewrite HR. destruct (ROOT =? p); reflexivity.
    - intros x p v Hx Hp Hv. apply EN in Hv as [-> ->]. rewrite HR in Hp. destruct Hp as [<-|[]].
      pose proof (numbered_loops _ _ _ _ HN Hx). unfold ROOT in *. lia.
    - exact I.
    - exists 1, hi. split; [|split; auto; exact I]. intros a [<-|[]]. auto.
  Qed.
End Adequacy.
