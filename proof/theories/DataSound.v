(* DataSound.v -- a satisfied dependence means that the producer's runs have retired

   Purpose   The condition speaks of what the waiting engine has counted. Here it is related to what
             the producer's engine runs: if the two enter the producer's body alike, a dependence is
             satisfied exactly when as many runs of the producer have retired as its engine will
             ever make up to the target. Loops that are not around the producer may diverge.
   Paper     section 3.2 promises this in words; section 6.5 says what happens without agreement
   C++       lib/Model/Check.cpp refuses engines that diverge around a producer
   Trusted   nothing

   Why it holds. What a consumer asks for has been entered, on its own engine, by the time it asks;
   nothing entered later lies at or before the target ([asked_is_final]). So its count is that of
   the whole run, and the two engines agree on the whole run. This is also why it does not matter
   that counts are taken so far, and not at the end: for a dependence that [legal] accepts. *)

From Coq Require Import List Arith Lia Bool Sorted.
Import ListNotations.
From Tally Require Import Syntax Semantics Decode Expr Checker Invariant CheckerSound Bisimulation.
From Tally Require Import Legality Vectors SequentialOrder DeadlockFree VectorInvariant Adequacy.
From Tally Require Import StillToCome.

(** * What has been asked for comes no later *)

Section Ranks.
  Variable T : tables.
  Variable rank : instr -> nat.

  (* Instructions in nested bodies have ranks in the range of the code, too. *)
  Lemma nested_ranked e act c x p : wfc T e act c -> In x (loops_of c) -> In p (body T x e) ->
    forall lo hi, ranked rank lo c = Some hi -> lo <= rank p.
  Proof.
    revert act. induction c; cbn [wfc loops_of ranked]; intros act W Hx Hp lo hi HR.
    - contradiction.
    - destruct (forallb _ _); [|discriminate]. destruct W as [_ W].
      pose proof (block_end_ge rank f lo). specialize (IHc _ W Hx Hp _ _ HR). lia.
    - destruct W as ((_ & _ & HB) & W1 & W2).
      destruct (ranked rank lo c1) as [m|] eqn:E1; [|discriminate].
      pose proof (ranked_monotone _ _ _ _ E1). destruct Hx as [<-|Hx].
      + rewrite <- HB in Hp. eapply ranked_direct in E1; eauto. lia.
      + apply in_app_or in Hx as [Hx|Hx].
        * eapply (IHc1 _ W1 Hx Hp); eauto.
        * specialize (IHc2 _ W2 Hx Hp _ _ HR). lia.
    - destruct W as ((_ & _ & HB) & (_ & _ & HB') & W1 & W2 & W3).
      destruct (ranked rank lo c1) as [m|] eqn:E1; [|discriminate].
      destruct (ranked rank m c2) as [m'|] eqn:E2; [|discriminate].
      pose proof (ranked_monotone _ _ _ _ E1). pose proof (ranked_monotone _ _ _ _ E2).
      destruct Hx as [<-|Hx].
      { rewrite <- HB in Hp. eapply ranked_direct in E1; eauto. lia. }
      apply in_app_or in Hx as [Hx|[<-|Hx]].
      + eapply (IHc1 _ W1 Hx Hp); eauto.
      + rewrite <- HB' in Hp. eapply ranked_direct in E2; eauto. lia.
      + apply in_app_or in Hx as [Hx|Hx].
        * specialize (IHc2 _ W2 Hx Hp _ _ E2). lia.
        * specialize (IHc3 _ W3 Hx Hp _ _ HR). lia.
  Qed.

  (* s is the innermost body of k that q is in. *)
  Definition innermost_around (q s : loopid) (act : list loopid) : Prop :=
    find (fun l => inb l (path T q)) act = Some s.

  Lemma around_ranked e s q p k : wfk T e k -> In p (body T q e) ->
    innermost_around q s (active k) -> In q (still_around s k) ->
    forall h, kont_ranked rank h k -> h <= rank p.
  Proof.
    unfold innermost_around.
    induction k; cbn [wfk active still_around kont_ranked find]; intros W Hp F Hq h HK.
    - contradiction.
    - destruct W as (((_ & HP & _) & _) & Wb & Wr & Wk).
      destruct HK as (_ & h' & Er & K). pose proof (ranked_monotone _ _ _ _ Er).
      destruct (Nat.eqb_spec l s) as [|N]; [contradiction|].
      destruct (inb l (path T q)) eqn:I; [congruence|]. apply inb_not_In in I.
      destruct Hq as [<-|Hq]; [exfalso; apply I; rewrite HP; now left|].
      apply in_app_or in Hq as [Hq|Hq].
      { exfalso. apply I. apply (loops_inside T e _ _ _ Wb Hq). now left. }
      apply in_app_or in Hq as [Hq|Hq].
      + eapply nested_ranked; eauto.
      + specialize (IHk Wk Hp F Hq _ K). lia.
    - destruct W as (_ & _ & Wr & Wk). destruct HK as (m & h' & L & Er & K).
      pose proof (ranked_monotone _ _ _ _ Er).
      destruct (Nat.eqb_spec l s) as [|N]; [contradiction|].
      destruct (inb l (path T q)) eqn:I; [congruence|].
      apply in_app_or in Hq as [Hq|Hq].
      + pose proof (nested_ranked _ _ _ _ _ Wr Hq Hp _ _ Er). lia.
      + specialize (IHk Wk Hp F Hq _ K). lia.
  Qed.

  (* The body of a producer that comes before the consumer is behind it. *)
  Lemma earlier_producer_passed e s pos j p : wfk T e (kon pos) ->
    wfc T e (active (kon pos)) (cod pos) -> pos_ranked rank pos -> In j (cur pos) ->
    In p (body T (home T p) e) -> innermost_around (home T p) s (active (kon pos)) ->
    rank p < rank j -> ~ In (home T p) (still_inside s pos).
  Proof.
    intros Wk Wc (lo & hi & h & _ & H2 & HC & HK) Hj Hp F L Hq. apply H2 in Hj.
    pose proof (ranked_monotone _ _ _ _ HC). apply in_app_or in Hq as [Hq|Hq].
    - pose proof (nested_ranked _ _ _ _ _ Wc Hq Hp _ _ HC). lia.
    - pose proof (around_ranked _ _ _ _ _ Wk Hp F Hq _ HK). lia.
  Qed.
End Ranks.

Section Counting.
  Variable T : tables.

  Lemma count_if_none {A} (f : A -> bool) xs : (forall x, In x xs -> f x = false) ->
    count_if f xs = 0.
  Proof.
    unfold count_if. induction xs; simpl; intros H; auto. rewrite H by auto. auto.
  Qed.

  (* More entries, more of them asked for ... *)
  Lemma asked_grows m m' q g r : entries_of m' q = entries_of m q ++ r ->
    asked T m q g <= asked T m' q g.
  Proof.
    intros E. destruct g; cbn [asked]; unfold entries_up_to, entries_before, entries_in;
      rewrite E, ?count_if_app, ?app_length; lia.
  Qed.

  (* ... unless they lie beyond the target. *)
  Lemma asked_beyond m m' q s t r : entries_of m' q = entries_of m q ++ r ->
    (forall v, In v r -> lex_lt t (firstn (depth T s) v) = true) ->
    entries_up_to T m' s q t = entries_up_to T m s q t /\
    entries_before T m' s q t = entries_before T m s q t /\
    entries_in T m' s q t = entries_in T m s q t.
  Proof.
    intros E H. unfold entries_up_to, entries_before, entries_in.
    rewrite E, !count_if_app, !(count_if_none _ r); auto; intros v Hv; specialize (H v Hv).
    - now apply lex_lt_neq.
    - apply lex_le_not_lt. now apply lex_lt_le.
    - now apply lex_lt_not_le.
  Qed.
End Counting.

Section Final.
  Variable T : tables.
  Variable C : Type.
  Variables (guard : engine -> loopid -> C -> bool) (ctl : engine -> loopid -> C -> C).
  Variable Ps : code instr.
  Variable c0 : engine -> C.
  Variables (hi hi' : nat) (rank : instr -> nat).
  Variables (branch : loopid -> bool) (opposite : loopid -> loopid -> bool).
  Hypothesis HWF : well_formed T Ps.
  Hypothesis HN : numbered 1 Ps = Some hi.
  Hypothesis HRank : ranked rank 0 Ps = Some hi'.
  Notation walk := (walk C guard ctl Ps c0).

  (* Where an engine is, the code is well formed for all engines. *)
  Lemma walk_well_formed e n p c m : walk e n p c m -> forall e',
    wfk T e' (kon p) /\ wfc T e' (active (kon p)) (cod p).
  Proof.
    destruct HWF as [HP HW].
    induction 1 as [|n i cu co k c m W IH|n p c m p' c' ev W IH St]; intros e'.
    - split; [exact I|]. apply HW.
    - apply (IH e').
    - destruct (IH e') as [Wk Wc].
      destruct St; cbn [cod kon wfk wfc active] in *; unfold wf_body in *; intuition lia.
  Qed.

  Lemma walk_ranked e n p c m : walk e n p c m -> pos_ranked rank p.
  Proof.
    induction 1 as [|n i cu co k c m W IH|n p c m p' c' ev W IH St].
    - exists 0, 0, hi'. simpl. split; auto. split; [intros i []|]. auto.
    - eapply pos_ranked_issue; eauto.
    - eapply pos_ranked_step; eauto.
  Qed.

  Lemma walk_entries_grow e q n p c m : walk e n p c m -> forall n' p' c' m', walk e n' p' c' m' ->
    n <= n' -> exists r, entries_of m' q = entries_of m q ++ r.
  Proof.
    intros W n' p' c' m' W'.
    induction W' as [|n' i cu co k c' m' W' IH|n' p' c' m' p1 c1 ev W' IH St]; intros L.
    - replace n with 0 in * by lia.
      destruct (walk_determined C guard ctl Ps c0 _ _ _ _ _ W _ _ _ (walk_start _ _ _ _ _ e))
        as (_ & _ & _ & ->). exists []. now rewrite app_nil_r.
    - auto.
    - destruct (Nat.eq_dec n (S n')) as [->|N].
      + destruct (walk_determined C guard ctl Ps c0 _ _ _ _ _ W _ _ _
                    (walk_ctl _ _ _ _ _ _ _ _ _ _ _ _ _ W' St)) as (_ & _ & _ & ->).
        exists []. now rewrite app_nil_r.
      + destruct (IH ltac:(lia)) as [r E]. destruct ev as [l|]; cbn [count_event]; [|eauto].
        rewrite entries_after_entry, E, <- app_assoc. eauto.
  Qed.

  Section Consumer.
    Variables (e : engine) (n0 : nat) (p0 : pos instr) (x0 : C) (m0 : counts) (j : instr).
    Hypothesis W0 : walk e n0 p0 x0 m0.
    Hypothesis Hj : In j (cur p0).
    Variables (p : instr) (x : distance).
    Let q := home T p.
    Hypothesis Placed : is_placed T p = true.
    Hypothesis Legal : distance_legal T rank branch opposite p j x = true.

    (* Nothing that is asked for is entered later. *)
    Definition final (g : target) : Prop := forall n c m pos, walk e n pos c m -> n0 <= n ->
      asked T m q g <= asked T m0 q g.

    Lemma path_of_consumer : path T (home T j) = active (kon p0).
    Proof.
      pose proof (walk_keeps T C guard ctl Ps c0 HWF _ _ _ _ _ W0) as [(Wk & _ & Wi) _ _].
      destruct (Wi j Hj) as [-> _]. eapply path_of_owner; eauto. apply HWF.
    Qed.

    Lemma common_is_innermost s : s = common T (home T j) q -> In s (active (kon p0)) ->
      In s (path T q) -> innermost_around T q s (active (kon p0)).
    Proof.
      unfold common, innermost_around. rewrite path_of_consumer.
      destruct (find _ _) as [l|] eqn:F; intros -> H1 H2; auto. exfalso.
      pose proof (find_none _ _ F _ H1) as X. apply inb_not_In in X. contradiction.
    Qed.

    (* The iteration of s, d before the current one. *)
    Lemma earlier_order s d : In s (active (kon p0)) -> d < trips (kon p0) s ->
      (d = 0 /\ earlier T (kon p0) s d = iteration T (kon p0) s) \/
      (0 < d /\ lex_lt (earlier T (kon p0) s d) (iteration T (kon p0) s) = true).
    Proof.
      intros Hs Hd. pose proof (walk_keeps T C guard ctl Ps c0 HWF _ _ _ _ _ W0) as [(Wk & _) _ _].
      destruct (active_head_in_path T e (kon p0) s (proj1 HWF) Wk Hs) as [rest PS].
      rewrite (earlier_split _ _ _ _ _ PS), (iteration_split _ _ _ _ PS).
      destruct d as [|d]; [left|right].
      - now rewrite Nat.sub_0_r.
      - split; [lia|]. rewrite lex_lt_last. apply Nat.ltb_lt. lia.
    Qed.

    (* Later entries of the producer's body lie beyond the target. *)
    Lemma later_are_beyond s d : In s (active (kon p0)) -> In s (path T q)
        -> d < trips (kon p0) s ->
      (d = 0 -> ~ In q (still_inside s p0)) ->
      forall n c m pos, walk e n pos c m -> n0 <= n ->
      exists r, entries_of m q = entries_of m0 q ++ r /\
        forall v, In v r -> lex_lt (earlier T (kon p0) s d) (firstn (depth T s) v) = true.
    Proof.
      intros Hs Hq Hd H0 n c m pos W L.
      pose proof (earlier_order s d Hs Hd) as O.
      assert (LEN : length (earlier T (kon p0) s d) = length (iteration T (kon p0) s)).
      { pose proof (walk_keeps T C guard ctl Ps c0 HWF _ _ _ _ _ W0) as [(Wk & _) _ _].
        destruct (active_head_in_path T e (kon p0) s (proj1 HWF) Wk Hs) as [rest PS].
        rewrite (earlier_split _ _ _ _ _ PS), (iteration_split _ _ _ _ PS), !app_length. auto. }
      eapply (later_entries T C guard ctl Ps c0 hi HWF HN e n0 p0 x0 m0 W0 s q Hs Hq
                (fun v => lex_lt (earlier T (kon p0) s d) v = true)); eauto.
      - intros v Hv. destruct O as [[-> ->]|[_ O]]; auto. eapply lex_lt_trans; eauto.
      - destruct O as [[-> _]|[_ O]]; auto.
    Qed.

    (* The current iteration of s has as many entries of an active body as its trip. *)
    Lemma entries_in_at_least_trips s : In s (active (kon p0)) -> In s (path T q) ->
      In q (active (kon p0)) -> s <> q ->
      trips (kon p0) q <= entries_in T m0 s q (earlier T (kon p0) s 0).
    Proof.
      intros Hs Hq Act NE.
      pose proof (walk_keeps T C guard ctl Ps c0 HWF _ _ _ _ _ W0) as [IW IH IN].
      pose proof (walk_adequate T C guard ctl Ps c0 hi HWF HN _ _ _ _ _ W0) as A.
      assert (Hd : 0 < trips (kon p0) s) by (eapply trips_inside; eauto; apply IW).
      pose proof (past_counts_entries_in T e p0 m0 (proj1 HWF) IW IH A s q 0 Hs Hq Hd) as X.
      rewrite (past_0 T m0 _ s q IH Hq) in X. cbn [Nat.add] in X.
      pose proof (IN s q Hs Act Hq NE) as Y. pose proof (hi_sum _ _ _ IH s q Hq) as Z.
      pose proof (hi_active _ _ _ IH s Hs). unfold past in X.
      destruct (tot m0 s) as [|t]; [lia|]. cbn [sumH] in Z.
      replace (S t - 1) with t in X by lia. lia.
    Qed.

    (* Opposite.v shows that a branch is not ahead while the other one is taken. *)
    Hypothesis Opposite : forall s, innermost_around T q s (active (kon p0)) ->
      in_opposite_branches T opposite (home T j) q = true -> ~ In q (still_inside s p0).

    Lemma zero_distance_passed s : zero_legal T rank opposite p j s = true ->
      In s (active (kon p0)) -> In s (path T q) -> ~ In q (still_inside s p0).
    Proof.
      intros L Hs Hq. unfold zero_legal in L. fold q in L.
      apply andb_true_iff in L as [L1 L2]. apply Nat.eqb_eq in L1.
      apply orb_true_iff in L2 as [L2|L2].
      - unfold before in L2. apply Nat.ltb_lt in L2.
        destruct (walk_well_formed _ _ _ _ _ W0 (eng T p)) as [Wk Wc].
        eapply (earlier_producer_passed T rank); eauto.
        + eapply walk_ranked; eauto.
        + unfold is_placed in Placed. now apply inb_In.
        + now apply common_is_innermost.
      - apply andb_true_iff in L2 as [_ L2]. apply Opposite; auto.
        now apply common_is_innermost.
    Qed.

    (* What is asked for is final; and so the two readings of the condition agree. *)
    Theorem asked_is_final (P Q : target -> Prop) : (forall g, final g -> (P g <-> Q g)) ->
      (unless_unowed T (kon p0) m0 q x P <-> unless_unowed T (kon p0) m0 q x Q).
    Proof.
      intros PQ. pose proof path_of_consumer as PC.
      pose proof (walk_keeps T C guard ctl Ps c0 HWF _ _ _ _ _ W0) as [IW IH IN].
      destruct x as [s d|f|s d b back ahead]; cbn [unless_unowed distance_legal] in *;
        fold q in Legal; rewrite ?PC in Legal; repeat rewrite andb_true_iff in Legal.
      - destruct Legal as ((L1 & L2) & L3). apply inb_In in L1, L2.
        rewrite (underflow_is_first_iterations T e p0 (proj1 HWF) IW s d L1).
        fold (earlier T (kon p0) s d).
        destruct (le_lt_dec (trips (kon p0) s) d) as [|L]; [tauto|]. rewrite PQ; [tauto|].
        intros n c m pos W Ln.
        destruct (later_are_beyond s d L1 L2 L) with (2 := W) (3 := Ln) as (r & E & B).
        { intros ->. apply zero_distance_passed; auto. }
        cbn [asked]. destruct (asked_beyond T _ _ _ _ _ _ E B) as (-> & _). auto.
      - rewrite PQ; [tauto|]. intros n c m pos W Ln. cbn [asked]. lia.
      - destruct Legal as (((((((L1 & L2) & L3) & L4) & L5) & L6) & L7) & L8).
        apply inb_In in L1, L2. apply negb_true_iff, Nat.eqb_neq in L3.
        rewrite (underflow_is_first_iterations T e p0 (proj1 HWF) IW s d L1).
        fold (earlier T (kon p0) s d).
        destruct (le_lt_dec (trips (kon p0) s) d) as [|L]; [tauto|].
        destruct (le_lt_dec (trips (kon p0) b + ahead) back) as [|Lb]; [tauto|].
        rewrite PQ; [tauto|]. intros n c m pos W Ln. cbn [asked].
        destruct (Nat.eqb_spec d 0) as [->|D0].
        + destruct (inb q (active (kon p0))) eqn:Act.
          * apply inb_In in Act. apply andb_true_iff in L8 as [L8 L9].
            apply Nat.eqb_eq in L8. apply Nat.ltb_lt in L9. subst b.
            pose proof (entries_in_at_least_trips s L1 L2 Act ltac:(auto)) as Enough.
            destruct (earlier_order s 0 L1 L) as [[_ O]|[O _]]; [|lia].
            destruct (later_entries T C guard ctl Ps c0 hi HWF HN e n0 p0 x0 m0 W0 s q L1 L2
                        (fun v => lex_le (earlier T (kon p0) s 0) v = true)) with (3 := W) (4 := Ln)
              as (r & E & B).
            { intros v Hv. rewrite O. now apply lex_lt_le. }
            { left. rewrite O. apply lex_le_refl. }
            assert (EB : entries_before T m s q (earlier T (kon p0) s 0) =
                         entries_before T m0 s q (earlier T (kon p0) s 0)).
            { unfold entries_before. rewrite E, count_if_app, (count_if_none _ r); [lia|].
              intros v Hv. apply lex_le_not_lt. auto. }
            rewrite EB. lia.
          * apply inb_not_In in Act. apply andb_true_iff in L8 as [L8 L9].
            destruct (later_are_beyond s 0 L1 L2 L) with (2 := W) (3 := Ln) as (r & E & B).
            { intros _. apply zero_distance_passed; auto. unfold zero_legal. fold q.
              rewrite L8, L9. reflexivity. }
            destruct (asked_beyond T _ _ _ _ _ _ E B) as (_ & -> & ->). auto.
        + destruct (later_are_beyond s d L1 L2 L) with (2 := W) (3 := Ln) as (r & E & B); [lia|].
          destruct (asked_beyond T _ _ _ _ _ _ E B) as (_ & -> & ->). auto.
    Qed.

    Hypothesis Alike : enters_alike C guard ctl Ps c0 q e (eng T p).
    Hypothesis Alike' : enters_alike C guard ctl Ps c0 q (eng T p) e.

    (* The producer's engine makes the runs that the consumer's engine has counted, up to a final
       target. *)
    Lemma asked_on_both g r : final g ->
      (asked T m0 q g <= r <->
       forall n pos c m, walk (eng T p) n pos c m -> asked T m q g <= r).
    Proof.
      intros F. split.
      - intros H n pos c m W.
        destruct (Alike' _ _ _ _ W) as (n' & pos' & c' & m' & r' & W' & E).
        pose proof (asked_grows T _ _ _ g _ E) as G1.
        destruct (le_lt_dec n0 n') as [L|L].
        + pose proof (F _ _ _ _ W' L). lia.
        + destruct (walk_entries_grow _ q _ _ _ _ W' _ _ _ _ W0 ltac:(lia)) as [r2 E2].
          pose proof (asked_grows T _ _ _ g _ E2). lia.
      - intros H. destruct (Alike _ _ _ _ W0) as (n' & pos' & c' & m' & r' & W' & E).
        pose proof (asked_grows T _ _ _ g _ E). specialize (H _ _ _ _ W'). lia.
    Qed.

    Theorem satisfied_means_retired r :
      unless_unowed T (kon p0) m0 q x (fun g => asked T m0 q g <= r) <->
      unless_unowed T (kon p0) m0 q x (fun g =>
        forall n pos c m, walk (eng T p) n pos c m -> asked T m q g <= r).
    Proof. apply asked_is_final. intros g F. now apply asked_on_both. Qed.
  End Consumer.
End Final.

(* Engines that agree on all control flow enter every body alike. *)
Lemma agreement_enters_alike C guard ctl Ps c0 : @agreement C guard ctl c0 ->
  forall q e e', enters_alike C guard ctl Ps c0 q e e'.
Proof.
  intros A q e e' n x c m W.
  enough (K : exists x', walk C guard ctl Ps c0 e' n x' c m /\ cod x' = cod x /\ kon x' = kon x).
  { destruct K as (x' & W' & _). exists n, x', c, m, []. now rewrite app_nil_r. }
  destruct A as (HG & HC & H0).
  induction W as [|n i cu co k c m W IH|n p c m p1 c1 ev W IH St].
  - rewrite (H0 e e'). exists (mkpos [] Ps KStop). split; [constructor|auto].
  - destruct IH as (x' & W' & E1 & E2). eauto.
  - destruct IH as ([cu co k] & W' & E1 & E2). cbn [cod kon] in *. subst.
    assert (W2 : walk C guard ctl Ps c0 e' n (mkpos [] (cod p) (kon p)) c m).
    { clear - W'. induction cu as [|i cu IH]; auto. apply IH. eapply walk_issue; eauto. }
    assert (St' : exists y, cstep guard ctl e' (mkpos [] (cod p) (kon p)) c y c1 ev /\
              cod y = cod p1 /\ kon y = kon p1).
    { clear W W' W2. destruct St; cbn [cod kon]; rewrite ?(HC e e');
        repeat match goal with
        | [ X : guard e _ _ = _ |- _ ] => rewrite (HG e e'), ?(HC e e') in X
        end; (eexists; split; [econstructor; eauto|auto]). }
    destruct St' as (y & St' & E1 & E2). exists y. rewrite <- E2.
    split; auto. eapply walk_ctl; eauto.
Qed.
