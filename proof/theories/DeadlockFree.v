(* DeadlockFree.v -- a legal kernel on engines that agree does not get stuck

   Purpose   Under agreement, a state of the specification without a step is one in which every
             engine has finished and nothing is in flight. With the bisimulation, the same holds for
             the code.
   Paper     says that liveness is relative to the dependence graph (section 6.5); this is the
             absolute statement for the graphs that [legal] accepts
   C++       lib/Model/Check.cpp refuses the other graphs
   Trusted   nothing

   Why it holds. Take a blocked engine that has made the fewest control steps, and among those at
   the same step the one whose next instruction has the least rank. The runs that it waits for lie
   on the common path before its position; the producer's engine is at that position or beyond, and
   nothing is in flight, so all of them have retired, except perhaps the latest one if its body is
   still active. Legality leaves that one only at distance 0, and then the producer has the smaller
   rank: it is blocked itself, against the choice. *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics Decode Expr Checker Invariant CheckerSound Bisimulation.
From Tally Require Import Legality Vectors SequentialOrder.

(** * Ranks at a position *)

Section PositionRanks.
  Variable rank : instr -> nat.

  (* Enclosing code whose inner part ends below rank h. *)
  Fixpoint kont_ranked (h : nat) (k : kont instr) : Prop :=
    match k with
    | KStop => True
    | KLoop l n b r k =>
        (exists lo, ranked rank lo b = Some h) /\
        exists h', ranked rank h r = Some h' /\ kont_ranked h' k
    | KCond l r k =>
        exists m h', h <= m /\ ranked rank m r = Some h' /\ kont_ranked h' k
    end.

  Definition pos_ranked (p : pos instr) : Prop :=
    exists lo hi h, stream_ranked rank lo (cur p) = true /\
      (forall i, In i (cur p) -> rank i < hi) /\
      ranked rank hi (cod p) = Some h /\ kont_ranked h (kon p).

  Lemma pos_ranked_issue i cu co k : pos_ranked (mkpos (i :: cu) co k)
      -> pos_ranked (mkpos cu co k).
  Proof.
    intros (lo & hi & h & H1 & H2 & H3 & H4). exists (S (rank i)), hi, h. cbn [cur cod kon] in *.
    simpl in H1. apply andb_true_iff in H1 as [_ H1].
    split; auto. split; auto. intros x Hx. apply H2. now right.
  Qed.

  Lemma pos_ranked_step C guard ctl e p c p' c' ev :
    @cstep C guard ctl instr e p c p' c' ev -> pos_ranked p -> pos_ranked p'.
  Proof.
    intros St (lo & hi & h & _ & _ & HC & HK).
    destruct St; cbn [cod kon] in *; cbn [ranked kont_ranked] in *.
    - destruct (forallb _ f) eqn:F; [|discriminate].
      exists hi, (block_end rank hi f), h. cbn [cur cod kon].
      destruct (nth_in_or_default e f []) as [X|X].
      + rewrite forallb_forall in F. split; [now apply F|]. split; auto.
        intros i Hi. eapply block_end_above; eauto.
      + rewrite X. split; auto. split; auto. intros i [].
    - destruct (ranked rank hi b) as [m|] eqn:Eb; [|discriminate].
      exists 0, hi, m. cbn. split; auto. split; [intros i []|]. split; eauto.
    - destruct (ranked rank hi b) as [m|] eqn:Eb; [|discriminate].
      exists 0, m, h. cbn. split; auto. split; [intros i []|]. split; eauto.
    - inversion HC; subst h. destruct HK as ((lo' & Eb) & h' & Er & K).
      exists 0, lo', hi. cbn. split; auto. split; [intros i []|]. split; eauto.
    - inversion HC; subst h. destruct HK as (_ & h' & Er & K).
      exists 0, hi, h'. cbn. split; auto. split; [intros i []|]. split; auto.
    - destruct (ranked rank hi bt) as [m|] eqn:Et; [|discriminate].
      destruct (ranked rank m bf) as [m'|] eqn:Ef; [|discriminate].
      exists 0, hi, m. cbn. split; auto. split; [intros i []|]. split; auto.
      exists m', h. split; auto. eapply ranked_monotone; eauto.
    - destruct (ranked rank hi bt) as [m|] eqn:Et; [|discriminate].
      destruct (ranked rank m bf) as [m'|] eqn:Ef; [|discriminate].
      exists 0, m, m'. cbn. split; auto. split; [intros i []|]. split; auto.
      exists m', h. auto.
    - inversion HC; subst h. destruct HK as (m & h' & L & Er & K).
      exists 0, m, h'. cbn. split; auto. split; [intros i []|]. split; auto.
  Qed.

  Lemma remk_ranked e l i k : forall h, kont_ranked h k -> In i (remk e l k) -> h <= rank i.
  Proof.
    induction k; cbn [kont_ranked remk]; intros h HK Hi; [contradiction| |].
    - destruct HK as (_ & h' & Er & K). apply in_app_or in Hi as [Hi|Hi].
      + destruct (owner k =? l); [|contradiction]. eapply ranked_direct in Er; eauto. lia.
      + apply ranked_monotone in Er. specialize (IHk _ K Hi). lia.
    - destruct HK as (m & h' & L & Er & K). apply in_app_or in Hi as [Hi|Hi].
      + destruct (owner k =? l); [|contradiction]. eapply ranked_direct in Er; eauto. lia.
      + apply ranked_monotone in Er. specialize (IHk _ K Hi). lia.
  Qed.

  (* What comes after the current block, on any engine, has greater ranks than what is in it. *)
  Lemma rest_has_greater_rank p e l i j : pos_ranked p -> In j (cur p) ->
    In i (rem e l (mkpos [] (cod p) (kon p))) -> rank j < rank i.
  Proof.
    intros (lo & hi & h & _ & H2 & HC & HK) Hj Hi. apply H2 in Hj.
    unfold rem in Hi. cbn [cur cod kon] in Hi. apply in_app_or in Hi as [Hi|Hi].
    - destruct (owner (kon p) =? l); [|contradiction]. eapply ranked_direct in HC; eauto. lia.
    - apply ranked_monotone in HC. pose proof (remk_ranked _ _ _ _ _ HK Hi). lia.
  Qed.

  Lemma head_has_least_rank x cu co k i :
    pos_ranked (mkpos (x :: cu) co k) -> In i (x :: cu) -> rank x <= rank i.
  Proof.
    intros (lo & hi & h & H1 & _) [->|Hi]; auto. cbn [cur] in H1.
    pose proof (stream_ranked_head _ _ _ _ _ H1 Hi). lia.
  Qed.
End PositionRanks.

(** * Invariants of the specification *)

Section Spec.
  Variables D C : Type.
  Variable iop : instr -> D -> D.
  Variable guard : engine -> loopid -> C -> bool.
  Variable ctl : engine -> loopid -> C -> C.
  Variable T : tables.
  Variable Ps : code instr.
  Variable rank : instr -> nat.
  Variables (d0 : D) (c0 : engine -> C).
  Hypothesis HWF : well_formed T Ps.
  Notation sstep := (sstep iop guard ctl T).
  Notation walk := (walk C guard ctl Ps c0).

  Definition in_flight (s : sstate D C) (i : instr) : nat := cnt (map fst (sifl s (que T i))) i.
  Definition unissued (s : sstate D C) (i : instr) : nat :=
    cnt (rem (eng T i) (home T i) (spos s (eng T i))) i.
  Definition entries (s : sstate D C) (i : instr) : nat := tot (scnt s (eng T i)) (home T i).
  Definition occurrences (i : instr) : nat := cnt (body T (home T i) (eng T i)) i.

  Record spec_invariant (s : sstate D C) : Prop := {
    si_walk : forall e, exists n, walk e n (spos s e) (scs s e) (scnt s e);
    si_queue : forall q i b, In (i, b) (sifl s q) -> que T i = q;
    si_count : forall i, src s i + in_flight s i + unissued s i = entries s i * occurrences i;
    si_unissued : forall i, unissued s i <= occurrences i;
    si_ranks : forall e, pos_ranked rank (spos s e) }.

  Lemma cnt_cons i j x : cnt (j :: x) i = (if j =? i then 1 else 0) + cnt x i.
  Proof.
    unfold cnt. simpl. destruct (Nat.eq_dec j i), (Nat.eqb_spec j i); congruence || reflexivity.
  Qed.

  Lemma si_initial hi : ranked rank 0 Ps = Some hi -> spec_invariant (sinit Ps d0 c0).
  Proof.
    intros HRank. destruct HWF as [HP HW].
    assert (U : forall e l, rem e l (mkpos [] Ps KStop) = if l =? ROOT then body T l e else []).
    { intros e l. unfold rem. cbn [cur cod kon remk]. change (owner KStop) with ROOT.
      rewrite (Nat.eqb_sym ROOT l). destruct (Nat.eqb_spec l ROOT) as [->|]; auto.
      simpl. rewrite app_nil_r. apply HW. }
    constructor; simpl.
    - intros e. exists 0. constructor.
    - intros; contradiction.
    - intros i. unfold in_flight, unissued, entries, occurrences. simpl. rewrite U.
      destruct (home T i =? ROOT); simpl; lia.
    - intros i. unfold unissued, occurrences. simpl. rewrite U.
      destruct (home T i =? ROOT); simpl; lia.
    - intros e. exists 0, 0, hi. simpl. split; auto. split; [intros i []|]. auto.
  Qed.

  Lemma unissued_issue s e j cu co k : spos s e = mkpos (j :: cu) co k -> wfp T e (spos s e) ->
    forall i, unissued s i = (if j =? i then 1 else 0) +
      cnt (rem (eng T i) (home T i) (upd (spos s) e (mkpos cu co k) (eng T i))) i.
  Proof.
    intros Hp W i. unfold unissued. rewrite Hp in W. destruct W as (_ & _ & W). cbn [cur kon] in W.
    destruct (W j (or_introl eq_refl)) as [Hh He].
    destruct (Nat.eq_dec (eng T i) e) as [->|N].
    - rewrite upd_eq, Hp. unfold rem. cbn [cur cod kon].
      destruct (Nat.eqb_spec (owner k) (home T i)) as [E|E].
      + rewrite <- !app_assoc. simpl. apply cnt_cons.
      + destruct (Nat.eqb_spec j i) as [->|]; auto. congruence.
    - rewrite upd_ne by auto. destruct (Nat.eqb_spec j i) as [->|]; auto. congruence.
  Qed.

  Lemma si_step s a s' : spec_invariant s -> sstep s a s' -> spec_invariant s'.
  Proof.
    intros SI St. destruct St.
    - (* issue *)
      assert (W : wfp T e (spos s e)).
      { destruct (si_walk _ SI e) as [n Wk]. apply (walk_keeps T C guard ctl Ps c0 HWF) in Wk.
        apply Wk. }
      pose proof (unissued_issue _ _ _ _ _ _ H W) as U.
      constructor; simpl.
      + intros e0. destruct (Nat.eq_dec e0 e) as [->|N]; [|rewrite upd_ne by auto; apply SI].
        rewrite upd_eq. destruct (si_walk _ SI e) as [n Wk]. rewrite H in Wk. exists n.
        eapply walk_issue; eauto.
      + intros q x b. destruct (Nat.eq_dec q (que T i)) as [->|N].
        * rewrite upd_eq, in_app_iff. intros [X|[X|[]]]; [eapply SI; eauto|]. congruence.
        * rewrite upd_ne by auto. apply SI.
      + intros x. pose proof (si_count _ SI x) as X. rewrite (U x) in X.
        unfold in_flight, unissued, entries in *. simpl.
        destruct (Nat.eq_dec (que T x) (que T i)) as [E|N].
        * rewrite E in *. rewrite upd_eq, map_app, cnt_app. cbn [map fst]. rewrite cnt_cons.
          simpl. lia.
        * rewrite (upd_ne (sifl s)) by auto. destruct (Nat.eqb_spec i x); [congruence|lia].
      + intros x. pose proof (si_unissued _ SI x) as X. rewrite (U x) in X.
        unfold unissued. simpl. lia.
      + intros e0. destruct (Nat.eq_dec e0 e) as [->|N]; [|rewrite upd_ne by auto; apply SI].
        rewrite upd_eq. pose proof (si_ranks _ SI e) as X. rewrite H in X.
        eapply pos_ranked_issue; eauto.
    - (* commit *)
      pose proof (mark_keeps_instrs _ _ _ _ H) as F. constructor; simpl; try apply SI.
      + intros q0 j b. destruct (Nat.eq_dec q0 q) as [->|N]; [|rewrite upd_ne by auto; apply SI].
        rewrite upd_eq. intros X. apply (in_map fst) in X. rewrite F in X.
        apply in_map_iff in X as ([j' b'] & E & X). simpl in E. subst. eapply SI; eauto.
      + intros j. pose proof (si_count _ SI j) as X. unfold in_flight, unissued, entries in *.
        simpl.
        destruct (Nat.eq_dec (que T j) q) as [E|N]; [|now rewrite upd_ne by auto].
        rewrite E, upd_eq, F in *. exact X.
    - (* retire *)
      assert (Hq : que T i = q) by (eapply (si_queue _ SI q i true); rewrite H; now left).
      constructor; simpl; try apply SI.
      + intros q0 j b. destruct (Nat.eq_dec q0 q) as [->|N]; [|rewrite upd_ne by auto; apply SI].
        rewrite upd_eq. intros X. eapply SI. rewrite H. right; eauto.
      + intros j. pose proof (si_count _ SI j) as X. unfold in_flight, unissued, entries in *.
        simpl.
        destruct (Nat.eq_dec (que T j) q) as [E|N].
        * rewrite E, upd_eq in *. rewrite H in X. cbn [map fst] in X. rewrite cnt_cons in X.
          unfold upd. rewrite (Nat.eqb_sym j i). destruct (Nat.eqb_spec i j) as [->|]; lia.
        * rewrite (upd_ne (sifl s)) by auto. rewrite upd_ne by congruence. exact X.
    - (* control *)
      destruct (si_walk _ SI e) as [n Wk].
      pose proof (walk_keeps T C guard ctl Ps c0 HWF _ _ _ _ _ Wk) as WI.
      pose proof (fun l => rem_step T _ _ _ _ _ _ _ _ _ l H (wi_wf _ _ _ _ WI)) as RS.
      constructor; simpl; try apply SI.
      + intros e0. destruct (Nat.eq_dec e0 e) as [->|N]; [|rewrite !upd_ne by auto; apply SI].
        rewrite !upd_eq. exists (S n). eapply walk_ctl; eauto.
      + intros i. pose proof (si_count _ SI i) as X.
        unfold in_flight, unissued, entries in *. simpl.
        destruct (Nat.eq_dec (eng T i) e) as [E|N]; [|now rewrite !upd_ne by auto].
        rewrite E in *. rewrite !upd_eq, RS. destruct ev as [l|]; auto. simpl.
        destruct (Nat.eqb_spec (home T i) l) as [F|N]; [|now rewrite upd_ne by auto].
        unfold occurrences in *. rewrite E, F in *.
        rewrite upd_eq, cnt_app, Nat.mul_add_distr_r, Nat.mul_1_l. lia.
      + intros i. pose proof (si_unissued _ SI i) as X. unfold unissued, occurrences in *. simpl.
        destruct (Nat.eq_dec (eng T i) e) as [E|N]; [|now rewrite !upd_ne by auto].
        rewrite E in *. rewrite !upd_eq, RS. destruct ev as [l|]; auto.
        destruct (Nat.eqb_spec (home T i) l) as [E'|N]; auto.
        rewrite E' in *. rewrite (rem_empty_at_entry _ _ _ _ _ _ _ _ _ _ H (wi_wf _ _ _ _ WI)).
        simpl. auto.
      + intros e0. destruct (Nat.eq_dec e0 e) as [->|N]; [|rewrite upd_ne by auto; apply SI].
        rewrite upd_eq. eapply pos_ranked_step; eauto. apply SI.
  Qed.

  Lemma si_reachable hi tr s : ranked rank 0 Ps = Some hi ->
    run sstep (sinit Ps d0 c0) tr s -> spec_invariant s.
  Proof.
    intros HRank R. eapply run_invariant; [|exact R|eapply si_initial; eauto].
    intros; eapply si_step; eauto.
  Qed.

  (** * Stuck states *)

  Definition stuck (s : sstate D C) : Prop := forall a s', ~ sstep s a s'.

  Definition finished (s : sstate D C) : Prop :=
    (forall e, spos s e = mkpos [] CNil KStop) /\ (forall q, sifl s q = []).

  Lemma stuck_nothing_in_flight s q : stuck s -> sifl s q = [].
  Proof.
    intros St. destruct (sifl s q) as [|[i [|]] x] eqn:E; auto; exfalso.
    - eapply St. eapply s_retire. exact E.
    - eapply St. eapply s_commit with (n := 0). unfold mark. rewrite E. reflexivity.
  Qed.

  Lemma control_is_total e co k c : (co = CNil /\ k = KStop) \/
    exists p' c' ev, @cstep C guard ctl instr e (mkpos [] co k) c p' c' ev.
  Proof.
    destruct co as [|f r|l b r|lt lf bt bf r].
    - destruct k as [|l n b r k|l r k]; [auto| |]; right.
      + destruct (guard e l (ctl e l c)) eqn:G; eexists _, _, _;
          [eapply cs_back|eapply cs_exit]; eauto.
      + eexists _, _, _. eapply cs_endif.
    - right. eexists _, _, _. eapply cs_block.
    - right. destruct (guard e l c) eqn:G; eexists _, _, _;
        [eapply cs_enter|eapply cs_skip]; eauto.
    - right. destruct (guard e lt c) eqn:G; eexists _, _, _;
        [eapply cs_then|eapply cs_else]; eauto.
  Qed.

  (* A stuck engine has finished or has an instruction that may not issue. *)
  Lemma stuck_engine s e : stuck s -> spos s e = mkpos [] CNil KStop \/
    exists j cu co k, spos s e = mkpos (j :: cu) co k /\
      ~ forall d, In d (deps T j) -> sat T s e d.
  Proof.
    intros St. destruct (spos s e) as [[|j cu] co k] eqn:E.
    - destruct (control_is_total e co k (scs s e)) as [[-> ->]|(p' & c' & ev & H)]; auto.
      exfalso. eapply St. eapply s_ctl. rewrite E. exact H.
    - right. exists j, cu, co, k. split; auto. intros H. eapply St. eapply s_issue; eauto.
  Qed.

  (** * The run that is waited for *)

  Variables (branch : loopid -> bool) (opposite : loopid -> loopid -> bool).

  (* If a legal dependence asks for the latest run of an active body, it goes forward at distance 0.
     *)
  Lemma latest_run_needed (k : kont instr) m p j x :
    HI T m (active k) -> now_counted T k m -> (exists e, wfk T e k) -> path T ROOT = [ROOT] ->
    home T j = owner k -> In (home T p) (active k) ->
    distance_legal T rank branch opposite p j x = true ->
    ~ unowed (trips k) m (home T p) x -> tot m (home T p) <= needed (trips k) m (home T p) x ->
    rank p < rank j.
  Proof.
    intros H N [e W] HR Hj Hp L NU HN.
    assert (PJ : path T (home T j) = active k) by (rewrite Hj; eapply path_of_owner; eauto).
    assert (BEFORE : before rank p j = true -> rank p < rank j).
    { unfold before. now rewrite Nat.ltb_lt. }
    assert (OLDER : forall s, In s (active k) -> In s (path T (home T p)) -> s <> home T p ->
              past m s 1 (home T p) + trips k (home T p) <= tot m (home T p)).
    { intros s Hs Hsp NE. pose proof (N s _ Hs Hp Hsp NE) as X.
      pose proof (hi_sum _ _ _ H s _ Hsp) as Y. pose proof (hi_active _ _ _ H s Hs) as Z.
      unfold past. destruct (tot m s) as [|t]; [lia|]. cbn [sumH] in Y.
      replace (S t - 1) with t by lia. lia. }
    pose proof (trips_inside T e k _ W Hp) as TP.
    pose proof (hi_active _ _ _ H _ Hp) as TT.
    destruct x as [s d|f|s d b back ahead]; cbn [distance_legal unowed needed] in *;
      rewrite ?PJ in L; repeat rewrite andb_true_iff in L.
    - destruct L as ((L1 & L2) & L3). apply inb_In in L1, L2.
      destruct (Nat.eqb_spec d 0) as [->|D0].
      + unfold zero_legal in L3. rewrite PJ in L3. apply andb_true_iff in L3 as [_ L3].
        apply orb_true_iff in L3 as [L3|L3]; auto.
        apply andb_true_iff in L3 as [L3 _]. apply inb_In in Hp. rewrite Hp in L3. discriminate.
      + exfalso. destruct (Nat.eq_dec s (home T p)) as [E|NE].
        * rewrite E in HN. rewrite (past_self T _ _ _ _ H) in HN. lia.
        * specialize (OLDER s L1 L2 NE).
          pose proof (past_antitone m s 1 d (home T p) ltac:(lia)). lia.
    - destruct L as (_ & L). destruct (Nat.eqb_spec f 0); auto. exfalso. lia.
    - destruct L as (((((((L1 & L2) & L3) & L4) & L5) & L6) & L7) & L8).
      apply inb_In in L1, L2. apply negb_true_iff, Nat.eqb_neq in L3.
      specialize (OLDER s L1 L2 ltac:(auto)).
      destruct (Nat.eqb_spec d 0) as [->|D0].
      + apply inb_In in Hp. rewrite Hp in L8. apply andb_true_iff in L8 as [L8 L9].
        apply Nat.eqb_eq in L8. apply Nat.ltb_lt in L9. subst b. exfalso.
        cbn [Nat.add] in HN. lia.
      + exfalso. pose proof (past_antitone m s 1 d (home T p) ltac:(lia)). lia.
  Qed.

  (* At most all runs so far are asked for. *)
  Lemma needed_at_most_tot (k : kont instr) m p j x :
    HI T m (active k) -> distance_legal T rank branch opposite p j x = true ->
    needed (trips k) m (home T p) x <= tot m (home T p).
  Proof.
    intros H L.
    assert (PAST : forall s d, In s (path T (home T p)) -> past m s d (home T p)
        <= tot m (home T p)).
    { intros s d Hs. rewrite <- (past_0 T m _ s _ H Hs). apply past_antitone. lia. }
    destruct x as [s d|f|s d b back ahead]; cbn [distance_legal needed] in *;
      repeat rewrite andb_true_iff in L.
    - destruct L as ((_ & L2) & _). apply inb_In in L2. auto.
    - lia.
    - destruct L as (((((((_ & L2) & _) & _) & _) & _) & _) & _). apply inb_In in L2.
      specialize (PAST s d L2). lia.
  Qed.

  Hypothesis HA : agreement guard ctl c0.
  Variable hi : nat.
  Hypothesis HRank : ranked rank 0 Ps = Some hi.
  Hypothesis HL : forall j d, In d (deps T j) -> is_placed T (prd d) = true /\
    distance_legal T rank branch opposite (prd d) j (dist d) = true.

  Lemma rem_split e l p i : In i (rem e l p) ->
    In i (cur p) \/ In i (rem e l (mkpos [] (cod p) (kon p))).
  Proof.
    unfold rem. cbn [cur cod kon]. destruct (owner (kon p) =? l); auto.
    rewrite <- app_assoc. intros H. apply in_app_or in H as [H|H]; auto.
  Qed.

  Lemma rem_inside e l p i : In i (rem e l p) -> In l (active (kon p)).
  Proof.
    intros H. destruct (in_dec Nat.eq_dec l (active (kon p))) as [|N]; auto.
    rewrite (rem_outside e l p N) in H. contradiction.
  Qed.

  (* No engine is blocked: by induction on control steps, then on the rank of the next instruction.
     *)
  Lemma nobody_blocked s tr : run sstep (sinit Ps d0 c0) tr s -> stuck s ->
    forall n r e j cu co k,
      spos s e = mkpos (j :: cu) co k -> walk e n (spos s e) (scs s e) (scnt s e) -> rank j = r ->
      forall d, In d (deps T j) -> sat T s e d.
  Proof.
    intros R St. pose proof (si_reachable _ _ _ HRank R) as SI. destruct HWF as [HP _].
    induction n as [n IHn] using lt_wf_ind. induction r as [r IHr] using lt_wf_ind.
    intros e j cu co k Hpos Wk Hr d Hd.
    destruct (HL j d Hd) as [Placed Legal].
    pose proof (walk_keeps T C guard ctl Ps c0 HWF _ _ _ _ _ Wk) as [IW IH IN].
    set (p := prd d) in *. set (P := home T p) in *. set (ep := eng T p) in *.
    (* the producer's engine has come at least as far *)
    destruct (si_walk _ SI ep) as [np Wp].
    assert (Far : n <= np).
    { destruct (stuck_engine s ep St) as [F|(j' & cu' & co' & k' & F & NS)].
      - eapply (finished_is_last C guard ctl Ps c0 HA); [exact Wp|rewrite F|rewrite F|exact Wk];
          reflexivity.
      - destruct (le_lt_dec n np) as [|L]; auto. exfalso. apply NS.
        eapply (IHn np L); eauto. }
    unfold sat, satisfied. fold p P.
    destruct (le_lt_dec (needed (trips (kon (spos s e))) (scnt s e) P (dist d)) (src s p))
        as [|Need];
      auto.
    assert (UD : unowed (trips (kon (spos s e))) (scnt s e) P (dist d) \/
                 ~ unowed (trips (kon (spos s e))) (scnt s e) P (dist d)).
    { destruct (dist d); cbn [unowed]; lia. }
    destruct UD as [|NU]; auto. exfalso.
    (* its latest run is the one needed, and has not been issued *)
    pose proof (needed_at_most_tot (kon (spos s e)) _ p j (dist d) IH Legal) as AtMost.
    fold P in AtMost.
    pose proof (si_count _ SI p) as Count. pose proof (si_unissued _ SI p) as Un.
    unfold in_flight in Count. rewrite stuck_nothing_in_flight in Count by auto.
    change (cnt (map fst []) p) with 0 in Count.
    unfold entries in Count. fold ep P in Count.
    assert (Tot : tot (scnt s e) P <= tot (scnt s ep) P).
    { destruct (Nat.eq_dec n np) as [->|N].
      - destruct (same_step_same_place C guard ctl Ps c0 HA _ _ _ _ _ Wk _ _ _ _ Wp)
          as (_ & _ & _ & ->). auto.
      - destruct (left_earlier T C guard ctl Ps c0 HWF _ _ _ _ _ Wp n ltac:(lia))
          as (q & c & m & Wq & _ & Q).
        destruct (same_step_same_place C guard ctl Ps c0 HA _ _ _ _ _ Wk _ _ _ _ Wq)
          as (_ & _ & _ & ->). apply Q. }
    assert (Occ : 1 <= occurrences p).
    { unfold occurrences. apply inb_In in Placed.
      pose proof (proj1 (count_occ_In Nat.eq_dec _ _) Placed). unfold cnt. lia. }
    assert (One : unissued s p >= 1 /\ tot (scnt s ep) P = tot (scnt s e) P /\
                  tot (scnt s e) P <= needed (trips (kon (spos s e))) (scnt s e) P (dist d)).
    { destruct (tot (scnt s ep) P) as [|t]; [lia|].
      assert (t <= t * occurrences p) by nia. cbn [Nat.mul] in Count. lia. }
    destruct One as (One & TotE & NeedAll).
    assert (Rem : In p (rem ep P (spos s ep))).
    { apply (count_occ_In Nat.eq_dec). exact One. }
    assert (Hj : home T j = owner (kon (spos s e))).
    { rewrite Hpos in IW. destruct IW as (_ & _ & IW). rewrite Hpos. apply IW. now left. }
    assert (Wfk : exists e', wfk T e' (kon (spos s e))) by (exists e; apply IW).
    assert (SMALLER : In P (active (kon (spos s e))) -> rank p < rank j).
    { intros Act. eapply (latest_run_needed (kon (spos s e)) (scnt s e) p j (dist d)); eauto. }
    assert (REST : ~ In p (rem ep P (mkpos [] (cod (spos s e)) (kon (spos s e))))).
    { intros Hrest. pose proof (rem_inside _ _ _ _ Hrest) as Act. cbn [kon] in Act.
      specialize (SMALLER Act).
      pose proof (rest_has_greater_rank rank (spos s e) ep P p j (si_ranks _ SI e)) as G.
      rewrite Hpos in G at 1. specialize (G (or_introl eq_refl) Hrest). lia. }
    destruct (Nat.eq_dec n np) as [->|N].
    - destruct (same_step_same_place C guard ctl Ps c0 HA _ _ _ _ _ Wk _ _ _ _ Wp)
        as (E1 & E2 & _ & _).
      apply rem_split in Rem as [Cur|Rest].
      2:{ rewrite <- E1, <- E2 in Rest. exact (REST Rest). }
      destruct (stuck_engine s ep St) as [F|(j' & cu' & co' & k' & F & NS)].
      { rewrite F in Cur. contradiction. }
      pose proof (si_ranks _ SI ep) as PR. rewrite F in PR, Cur. cbn [cur] in Cur.
      pose proof (head_has_least_rank rank _ _ _ _ _ PR Cur) as Least.
      assert (Act : In P (active (kon (spos s e)))).
      { rewrite E2. rewrite F. cbn [kon].
        pose proof (walk_keeps T C guard ctl Ps c0 HWF _ _ _ _ _ Wp) as [(_ & _ & IWp) _ _].
        rewrite F in IWp. cbn [cur kon] in IWp. destruct (IWp p Cur) as [HH _]. unfold P.
        rewrite HH. apply owner_active. }
      specialize (SMALLER Act). apply NS. eapply (IHr (rank j')); eauto. lia.
    - destruct (left_earlier T C guard ctl Ps c0 HWF _ _ _ _ _ Wp n ltac:(lia))
        as (q & c & m & Wq & Cq & Q).
      destruct (same_step_same_place C guard ctl Ps c0 HA _ _ _ _ _ Wk _ _ _ _ Wq)
        as (E1 & E2 & _ & E4).
      destruct (Q P) as [_ Q2]. rewrite <- E4 in Q2. specialize (Q2 ltac:(lia) p Rem).
      apply REST. rewrite E1, E2. destruct q as [cq cdq kq]. cbn [cur cod kon] in *.
      subst cq. exact Q2.
  Qed.

  Theorem stuck_is_finished tr s : run sstep (sinit Ps d0 c0) tr s -> stuck s -> finished s.
  Proof.
    intros R St. split; [|intros q; now apply stuck_nothing_in_flight].
    intros e. destruct (stuck_engine s e St) as [|(j & cu & co & k & F & NS)]; auto.
    exfalso. apply NS. pose proof (si_reachable _ _ _ HRank R) as SI.
    destruct (si_walk _ SI e) as [n Wk]. eapply nobody_blocked; eauto.
  Qed.
End Spec.
