(* Bisimulation.v -- accepted code and its specification do the same, step by step

   Purpose   The allocation relation [realises], the simulation relation [match_states], and the
             theorem that it holds at the start and is kept by every step of either side, with the
             same visible events.
   Paper     section 6.3 (allocation relation), 6.4 (theorem 1)
   C++       -
   Trusted   nothing

   The heart of [match_states] is [sema_counts]: what has retired of a semaphore's instructions,
   what is in flight, and what is left of the body, together are the body's word repeated once per
   entry, as the engine that owns the body has counted them. *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics Maps Decode Expr Known Checker Invariant.
From Tally Require Import FactsSound CheckerSound WaitSound.

Local Arguments Checker.raises : simpl never.

(* Where the instructions that raise a semaphore are: one body, one engine, one queue. *)
Record site := mksite { s_body : loopid; s_engine : engine; s_queue : queue }.

(* Registers and semaphores are 0 at the start. *)
Definition genv0 : genv := genv_of counts0 (fun l => if l =? ROOT then 1 else 0).
Definition true_at_start (A : roles) : bool := forallb (fun f => den (snd f) genv0 =? 0) A.

Lemma valid_at_start A : true_at_start A = true -> valid (at_start A) genv0 (fun _ => 0).
Proof.
  unfold true_at_start, at_start. rewrite forallb_forall. intros H.
  enough (G : forall B n, (forall f, In f B -> In f A) ->
    (forall r t x, In (t, x) (get_or [] n r) -> t = 0 /\ den x genv0 = 0) ->
    forall r t x, In (t, x) (get_or [] (fold_left
      (fun t f => set (fst f) ((0, snd f) :: get_or [] t (fst f)) t) B n) r) ->
    t = 0 /\ den x genv0 = 0).
  { assert (Z : forall r t x, In (t, x) (get_or [] (notes (at_start A)) r) ->
      t = 0 /\ den x genv0 = 0) by (apply G; auto; intros r t x []).
    split.
    - intros r t x I. apply Z in I as [-> _]. auto.
    - intros r x I. apply reads_In in I as (t & I & _). apply Z in I as [_ ->]. reflexivity. }
  induction B as [|f B IH]; intros n S N; [exact N|]. cbn [fold_left]. apply IH.
  - intros h Hh. apply S. now right.
  - intros r t x. rewrite get_or_set. unfold reg in *. destruct (r =? fst f); [|apply N].
    intros [I|I].
    + injection I as <- <-. split; auto. apply Nat.eqb_eq, H, S. now left.
    + exact (N _ _ _ I).
Qed.

Section Bisimulation.
  Variables D C : Type.
  Variable iop : instr -> D -> D.
  Variable guard : engine -> loopid -> C -> bool.
  Variable ctl : engine -> loopid -> C -> C.
  Variable T : tables.
  Variable signals : instr -> option sema.
  Variable sites : sema -> site.
  Variables (Ps : code instr) (Pi : code item).
  Notation sstep := (sstep iop guard ctl T).
  Notation istep := (istep iop guard ctl T signals).
  Notation raises := (raises signals).

  Definition signals_at_site : Prop := forall i w, signals i = Some w ->
    home T i = s_body (sites w) /\ eng T i = s_engine (sites w) /\
    que T i = s_queue (sites w) /\ 1 <= weight T (que T i).

  (* The code is the specification with register operations and waits added, and for every engine
     the checker accepts it. *)
  Definition realises : Prop :=
    ecode instr_of Pi = Ps /\ signals_at_site /\
    forall e, exists about inv A0 A1,
      true_at_start A0 = true /\ chk T signals e about inv [ROOT] (at_start A0) Pi = Some A1.

  Definition flying (w : sema) (x : flight) : list instr := filter (raises w) (map fst x).

  Definition sema_counts (s : sstate D C) (i : istate D C) (w : sema) : Prop :=
    let e := s_engine (sites w) in
    let l := s_body (sites w) in
    exists q,
      (forall j, signals j = Some w -> src s j = cnt q j) /\
      isem i w = weight T (s_queue (sites w)) * length q /\
      q ++ flying w (sifl s (s_queue (sites w))) ++ filter (raises w) (rem e l (spos s e))
        = cyc (filter (raises w) (body T l e)) (tot (scnt s e) l).

  Record match_states (s : sstate D C) (i : istate D C) : Prop := {
    m_data : sds s = ids i;
    m_control : forall e, scs s e = ics i e;
    m_flight : forall q, sifl s q = iifl i q;
    m_pos : forall e, spos s e = epos instr_of (ipos i e);
    m_wf : forall e, wfp T e (spos s e);
    m_queue : forall q j b, In (j, b) (sifl s q) -> que T j = q;
    m_counts : forall e, HI T (scnt s e) (active (kon (spos s e)));
    m_facts : forall e, exists about inv A Dn,
      pos_ok T signals e about inv A Dn (ipos i e) /\
      valid A (genv_of (scnt s e) (trips (kon (spos s e)))) (iregs i e) /\
      forall d, In d Dn -> sat T s e d;
    m_sema : forall w, sema_counts s i w }.

  Hypothesis HWF : well_formed T Ps.
  Hypothesis HR : realises.

  Ltac at_index x y :=
    destruct (Nat.eq_dec x y) as [->|?]; [repeat rewrite upd_eq|repeat rewrite upd_ne by auto].

  Lemma raises_signals w j : raises w j = true <-> signals j = Some w.
  Proof.
    unfold raises. destruct (signals j) as [v|]; [|split; discriminate].
    rewrite Nat.eqb_eq. split; congruence.
  Qed.

  Lemma raises_not w j : raises w j = false -> signals j <> Some w.
  Proof. intros H E. apply raises_signals in E. congruence. Qed.

  (** * The start *)

  Theorem match_initial d0 c0 : match_states (sinit Ps d0 c0) (iinit Pi d0 c0).
  Proof.
    destruct HWF as (HP & HW), HR as (HE & HU & HC).
    constructor; simpl; auto.
    - intros e. unfold epos; simpl. now rewrite HE.
    - intros e. destruct (HW e). repeat split; auto; contradiction.
    - intros; contradiction.
    - intros e. now apply HI_initial.
    - intros e. destruct (HC e) as (about & inv & A0 & A1 & H0 & H1).
      exists about, inv, (at_start A0), [].
      split; [exists (at_start A0), A1; simpl; auto|]. split; [|intros d []].
      now apply valid_at_start.
    - intros w. exists []. simpl. split; [reflexivity|]. split; auto.
      unfold rem; cbn [kon cur cod remk]. change (owner KStop) with ROOT.
      rewrite (Nat.eqb_sym ROOT (s_body (sites w))), app_nil_r.
      destruct (Nat.eqb_spec (s_body (sites w)) ROOT) as [->|N]; auto.
      simpl app. destruct (HW (s_engine (sites w))) as [_ ->]. unfold cyc; simpl.
      now rewrite app_nil_r.
  Qed.

  (** * Steps that the specification does not see *)

  Lemma match_regop s i e o cu c k : match_states s i -> ipos i e = mkpos (RegOp o :: cu) c k ->
    match_states s (mki (ids i) (ics i) (upd (ipos i) e (mkpos cu c k)) (iifl i) (isem i)
                        (upd (iregs i) e (exec o (iregs i e)))).
  Proof.
    intros M Hp. pose proof (m_pos _ _ M e) as MP. rewrite Hp in MP. unfold epos in MP; simpl in MP.
    constructor; simpl; try apply M.
    - intros e0. at_index e0 e; [|apply M]. rewrite MP. reflexivity.
    - intros e0. at_index e0 e; [|apply M].
      destruct (m_facts _ _ M e) as (about & inv & A & Dn & (A1 & A2 & I1 & I2 & I3) & V & HD).
      rewrite Hp in *. simpl in *. exists about, inv, (exec_facts (active k) o A), Dn.
      split; [exists A1, A2; auto|]. split; [|exact HD]. apply exec_ok; auto.
      rewrite MP in *; simpl in *. rewrite <- (active_erased instr_of k).
      eapply (env_ok_of T e).
      + pose proof (m_counts _ _ M e) as X. rewrite MP in X. exact X.
      + pose proof (m_wf _ _ M e) as (X & _). rewrite MP in X. exact X.
  Qed.

  (* A dependence and a threshold on its producer's semaphore. *)
  Lemma threshold_decides s i e d w v x c k : match_states s i -> ipos i e = mkpos x c k ->
    distance_ok T (active k) (home T (prd d)) (dist d) = true ->
    producer_ok T signals w d = true ->
    v = den (threshold T signals (active k) w d) (genv_of (scnt s e) (trips (kon (spos s e)))) ->
    (sat T s e d <-> v <= isem i w).
  Proof.
    intros M Hp E1 E2 E5. pose proof (m_pos _ _ M e) as MP. rewrite Hp in MP.
    unfold epos in MP; simpl in MP.
    unfold producer_ok in E2. repeat rewrite andb_true_iff in E2.
    destruct E2 as ((E2 & E3) & E4). apply Nat.leb_le in E4.
    apply raises_signals in E2. destruct HR as (_ & HU & _).
    destruct (HU _ _ E2) as (G1 & G2 & G3 & G4).
    destruct (m_sema _ _ M w) as (q & Q1 & Q2 & Q3).
    rewrite <- G1, <- G2 in Q3. rewrite <- G3 in Q2, Q3.
    pose proof (m_counts _ _ M e) as X. pose proof (m_wf _ _ M e) as (Y & _).
    pose proof (env_ok_of T e _ _ X Y) as EO. pose proof (trips_root T e _ Y) as ER.
    unfold sat, satisfied. rewrite MP in X, Y, EO, ER, E5 |- *.
    cbn [kon] in *. rewrite (active_erased instr_of k) in X, EO.
    eapply wait_iff; eauto.
  Qed.

  (* What holds of the counters where an engine is. *)
  Lemma counters_here s i e x c k : match_states s i -> ipos i e = mkpos x c k ->
    HI T (scnt s e) (active k) /\
    env_ok (active k) (genv_of (scnt s e) (trips (kon (spos s e)))) /\
    trips (kon (spos s e)) ROOT = 1.
  Proof.
    intros M Hp. pose proof (m_pos _ _ M e) as MP. rewrite Hp in MP.
    unfold epos in MP; simpl in MP.
    pose proof (m_counts _ _ M e) as X. pose proof (m_wf _ _ M e) as (Y & _).
    pose proof (env_ok_of T e _ _ X Y) as EO. pose proof (trips_root T e _ Y) as ER.
    rewrite MP in *. cbn [kon] in *. rewrite (active_erased instr_of k) in X, EO. auto.
  Qed.

  (* An accepted wait passes exactly when the dependence behind it is satisfied. *)
  Lemma wait_decides s i e A d w x c k : match_states s i -> ipos i e = mkpos x c k ->
    valid A (genv_of (scnt s e) (trips (kon (spos s e)))) (iregs i e) ->
    wait_ok T signals (active k) A w d = true -> (sat T s e d <-> passes i e w).
  Proof.
    intros M Hp V E. unfold wait_ok in E. repeat rewrite andb_true_iff in E.
    destruct E as ((E1 & E2) & E5).
    destruct (counters_here _ _ _ _ _ _ M Hp) as (_ & EO & _).
    apply (holds_ok _ _ _ _ _ _ EO V) in E5.
    unfold passes. eapply threshold_decides; eauto.
  Qed.

  (* Passing a wait satisfies all that it covers. *)
  Lemma covered_satisfied s i e A w j x c k : match_states s i -> ipos i e = mkpos x c k ->
    valid A (genv_of (scnt s e) (trips (kon (spos s e)))) (iregs i e) -> passes i e w ->
    forall d, In d (covered T signals (active k) A w j) -> sat T s e d.
  Proof.
    intros M Hp V P d Hd. apply filter_In in Hd as [_ Hd]. unfold wait_covers in Hd.
    repeat rewrite andb_true_iff in Hd. destruct Hd as ((E1 & E2) & E3).
    destruct (counters_here _ _ _ _ _ _ M Hp) as (X & EO & ER).
    apply (threshold_decides _ _ _ _ _ _ _ _ _ M Hp E1 E2 eq_refl). unfold passes in P.
    destruct (some_version_ok _ _ _ _ _ _ EO V E3) as (x' & E4 & Ex).
    apply existsb_exists in E4 as (y & Hy & E4).
    pose proof (at_most_ok T (active k) (scnt s e) (trips (kon (spos s e))) X ER _ _ E4) as Z.
    rewrite (ovals_ok _ _ _ _ _ V Hy) in Z. lia.
  Qed.

  Lemma never_owed_satisfied s i e d x c k : match_states s i -> ipos i e = mkpos x c k ->
    never_owed T (active k) d = true -> sat T s e d.
  Proof.
    intros M Hp H. left. destruct (counters_here _ _ _ _ _ _ M Hp) as (X & EO & ER).
    eapply never_owed_ok; eauto.
  Qed.

  Lemma served_decides s i e A w j ds x c k : match_states s i -> ipos i e = mkpos x c k ->
    valid A (genv_of (scnt s e) (trips (kon (spos s e)))) (iregs i e) ->
    served T signals (active k) A w j = ds ->
    forall d, In d ds -> In d (deps T j) /\ (sat T s e d <-> passes i e w).
  Proof.
    intros M Hp V <- d Hd. apply filter_In in Hd as [Hd Hw]. split; auto.
    eapply wait_decides; eauto.
  Qed.

  (* Whether the next instruction may issue is answered alike. *)
  Lemma issue_agrees s i e j w cu c k : match_states s i -> ipos i e
      = mkpos (Issue j w :: cu) c k ->
    ((forall d, In d (deps T j) -> sat T s e d) <-> (forall x, w = Some x -> passes i e x)).
  Proof.
    intros M Hp. destruct (m_facts _ _ M e) as (about & inv & A & Dn & (A1 & A2 & I1 & _) & V & HD).
    rewrite Hp in I1. cbn [cur kon items] in I1.
    assert (W : forall D, all_waited T (active k) j D = true ->
      forall d, In d (deps T j) -> In d D \/ sat T s e d).
    { intros D0 G d Hd. unfold all_waited in G. rewrite forallb_forall in G. apply G in Hd.
      apply orb_true_iff in Hd as [Hd|Hd]; [left; now apply dep_mem_In|right].
      eapply never_owed_satisfied; eauto. }
    destruct w as [w|].
    - destruct (served T signals (active k) A w j) as [|d0 ds] eqn:F; [discriminate|].
      destruct (all_waited T (active k) j _) eqn:G; [|discriminate].
      pose proof (served_decides _ _ _ _ _ _ _ _ _ _ M Hp V F) as FF. split.
      + intros Hs x Hx. inversion Hx; subst x.
        destruct (FF d0 (or_introl eq_refl)) as [Z1 Z2]. apply Z2, Hs, Z1.
      + intros Hw d Hd. destruct (W _ G d Hd) as [Hc|]; auto.
        apply in_app_or in Hc as [Hc|Hc]; auto. eapply covered_satisfied; eauto.
    - destruct (all_waited T (active k) j Dn) eqn:G; [|discriminate].
      split; [intros; discriminate|]. intros _ d Hd. destruct (W _ G d Hd); auto.
  Qed.

  (* A wait-only operation: passing it keeps the relation, and it never holds up an instruction that
     may issue. *)
  Lemma match_wait s i e w cu c k : match_states s i -> ipos i e = mkpos (Wait w :: cu) c k ->
    (passes i e w ->
     match_states s (mki (ids i) (ics i) (upd (ipos i) e (mkpos cu c k)) (iifl i) (isem i) (iregs
         i)))
    /\ exists j, next_instr cu = Some j /\
         ((forall d, In d (deps T j) -> sat T s e d) -> passes i e w).
  Proof.
    intros M Hp. pose proof (m_pos _ _ M e) as MP. rewrite Hp in MP. unfold epos in MP; simpl in MP.
    destruct (m_facts _ _ M e) as (about & inv & A & Dn & (A1 & A2 & I1 & I2 & I3) & V & HD).
    rewrite Hp in I1, I2, I3. cbn [cur cod kon items] in *.
    destruct (next_instr cu) as [j|] eqn:N; [|discriminate].
    destruct (served T signals (active k) A w j) as [|d0 ds] eqn:F; [discriminate|].
    pose proof (served_decides _ _ _ _ _ _ _ _ _ _ M Hp V F) as FF. split.
    - intros Hw. constructor; simpl; try apply M.
      + intros e0. at_index e0 e; [|apply M]. exact MP.
      + intros e0. at_index e0 e; [|apply M]. 
        exists about, inv, A, (covered T signals (active k) A w j ++ Dn).
        split; [exists A1, A2; auto|]. split; auto.
        intros d Hd. apply in_app_or in Hd as [Hd|Hd]; auto. eapply covered_satisfied; eauto.
    - exists j. split; auto. intros Hs. destruct (FF d0 (or_introl eq_refl)) as [Z1 Z2].
      apply Z2, Hs, Z1.
  Qed.

  (** * Steps that both sides make *)

  Lemma flying_app w a b : flying w (a ++ b) = flying w a ++ flying w b.
  Proof. unfold flying. now rewrite map_app, filter_app. Qed.

  Lemma match_issue s i e j w cu c k : match_states s i -> ipos i e = mkpos (Issue j w :: cu) c k ->
    match_states
      (mks (sds s) (scs s)
           (upd (spos s) e (mkpos (efilter instr_of cu) (ecode instr_of c) (ekont instr_of k)))
           (upd (sifl s) (que T j) (sifl s (que T j) ++ [(j, false)])) (scnt s) (src s))
      (mki (ids i) (ics i) (upd (ipos i) e (mkpos cu c k))
           (upd (iifl i) (que T j) (iifl i (que T j) ++ [(j, false)])) (isem i) (iregs i)).
  Proof.
    intros M Hp. pose proof (m_pos _ _ M e) as MP. rewrite Hp in MP. unfold epos in MP; simpl in MP.
    pose proof (m_wf _ _ M e) as WF0. rewrite MP in WF0. destruct WF0 as (W1 & W2 & W3). simpl in *.
    destruct (W3 j (or_introl eq_refl)) as [Hh He].
    constructor; simpl; try apply M.
    - intros q. at_index q (que T j); [|apply M]. now rewrite (m_flight _ _ M).
    - intros e0. at_index e0 e; [|apply M]. reflexivity.
    - intros e0. at_index e0 e; [|apply M].
      repeat split; simpl; auto; apply W3; simpl; auto.
    - intros q j0 b. at_index q (que T j); [|apply M]. rewrite in_app_iff.
      intros [H|[H|[]]]; [eapply (m_queue _ _ M); eauto|]. injection H as H1 H2. now subst.
    - intros e0. at_index e0 e; [|apply M].
      pose proof (m_counts _ _ M e) as X. rewrite MP in X. exact X.
    - intros e0. destruct (Nat.eq_dec e0 e) as [->|?].
      2:{ unfold sat; simpl. rewrite !upd_ne by auto. apply M. }
      rewrite !upd_eq.
      destruct (m_facts _ _ M e) as (about & inv & A & Dn & (A1 & A2 & I1 & I2 & I3) & V & HD).
      rewrite Hp, MP in *. cbn [cur cod kon items] in *.
      exists about, inv, A, []. split; [|split; [auto|intros d []]]. exists A1, A2. split; auto.
      cbn [cur kon]. destruct w as [w|];
        [destruct (served T signals (active k) A w j); [discriminate|]|];
        destruct (all_waited T _ j _); try discriminate; auto.
    - intros v. destruct (m_sema _ _ M v) as (q & Q1 & Q2 & Q3). exists q. simpl.
      split; auto. split; auto. rewrite <- Q3. f_equal.
      destruct (raises v j) eqn:RV.
      + destruct HR as (_ & HU & _). pose proof (proj1 (raises_signals v j) RV) as E7.
        destruct (HU _ _ E7) as (G1 & G2 & G3 & _).
        rewrite <- G1, <- G2, <- G3, He, !upd_eq, MP, Hh, flying_app. unfold rem; simpl.
        rewrite Nat.eqb_refl. rewrite <- app_assoc. f_equal. unfold flying; simpl.
        now rewrite RV.
      + f_equal.
        * at_index (s_queue (sites v)) (que T j); auto. rewrite flying_app. unfold flying at 2.
          simpl. now rewrite RV, app_nil_r.
        * at_index (s_engine (sites v)) e; auto. rewrite MP. unfold rem; simpl.
          rewrite !filter_app. f_equal.
          destruct (owner (ekont instr_of k) =? s_body (sites v)); simpl; auto. now rewrite RV.
  Qed.

  Lemma mark_keeps_instrs x n j y : mark x n = Some (j, y) -> map fst y = map fst x.
  Proof.
    unfold mark. destruct (nth_error x n) as [[j0 [|]]|] eqn:E; try discriminate.
    intros H. inversion H; subst. apply nth_error_split in E as (a & b & -> & <-).
    assert (K : skipn (S (length a)) (a ++ (j, false) :: b) = b).
    { replace (S (length a)) with (length (a ++ [(j, false)]))
        by (rewrite app_length; simpl; lia).
      change (a ++ (j, false) :: b) with (a ++ [(j, false)] ++ b).
      rewrite app_assoc, skipn_app, skipn_all, Nat.sub_diag. reflexivity. }
    cbn [skipn] in K. rewrite K, firstn_app, Nat.sub_diag, firstn_all. simpl.
    rewrite app_nil_r. now rewrite !map_app.
  Qed.

  Lemma match_commit s i q n j x : match_states s i -> mark (sifl s q) n = Some (j, x) ->
    match_states
      (mks (iop j (sds s)) (scs s) (spos s) (upd (sifl s) q x) (scnt s) (src s))
      (mki (iop j (ids i)) (ics i) (ipos i) (upd (iifl i) q x) (isem i) (iregs i)).
  Proof.
    intros M Hm. pose proof (mark_keeps_instrs _ _ _ _ Hm) as F.
    constructor; simpl; try apply M.
    - now rewrite (m_data _ _ M).
    - intros q0. at_index q0 q; auto; apply M.
    - intros q0 j0 b. at_index q0 q; [|apply M]. intros H. apply (in_map fst) in H. simpl in H.
      rewrite F in H. apply in_map_iff in H as ([j1 b1] & E & H). simpl in E; subst.
      eapply (m_queue _ _ M); eauto.
    - intros w. destruct (m_sema _ _ M w) as (r & Q1 & Q2 & Q3). exists r. simpl.
      split; auto. split; auto. rewrite <- Q3. f_equal. f_equal.
      at_index (s_queue (sites w)) q; auto. unfold flying. now rewrite F.
  Qed.

  Lemma match_retire s i q j x : match_states s i -> sifl s q = (j, true) :: x ->
    match_states
      (mks (sds s) (scs s) (spos s) (upd (sifl s) q x) (scnt s) (upd (src s) j (src s j + 1)))
      (mki (ids i) (ics i) (ipos i) (upd (iifl i) q x) (raise T signals (isem i) j) (iregs i)).
  Proof.
    intros M Hx. destruct HR as (_ & HU & _).
    assert (Hq : que T j = q) by (eapply (m_queue _ _ M q j true); rewrite Hx; left; auto).
    constructor; simpl; try apply M.
    - intros q0. at_index q0 q; auto; apply M.
    - intros q0 j0 b. at_index q0 q; [|apply M]. intros H. eapply (m_queue _ _ M).
      rewrite Hx. right; eauto.
    - intros e0. destruct (m_facts _ _ M e0) as (about & inv & A & Dn & PO & V & HD).
      exists about, inv, A, Dn.
      split; auto. split; auto. intros d Hd. destruct (HD d Hd) as [?|Z]; [left; auto|right].
      simpl. unfold upd. destruct (Nat.eqb_spec (prd d) j) as [Q|]; auto. rewrite <- Q. lia.
    - intros w. destruct (m_sema _ _ M w) as (r & Q1 & Q2 & Q3). unfold sema_counts, raise; simpl.
      destruct (raises w j) eqn:RW.
      + pose proof (proj1 (raises_signals w j) RW) as E7.
        destruct (HU _ _ E7) as (G1 & G2 & G3 & _).
        rewrite E7. assert (Gq : s_queue (sites w) = q) by congruence.
        exists (r ++ [j]). split; [|split].
        * intros j0 H1. rewrite cnt_app. unfold cnt at 2; simpl. unfold upd.
          rewrite Nat.eqb_sym. destruct (Nat.eqb_spec j j0); destruct (Nat.eq_dec j j0);
            try congruence.
          -- subst j0. rewrite Q1; auto.
          -- rewrite Q1 by auto. lia.
        * rewrite app_length, upd_eq, Q2, Hq, Gq. simpl. lia.
        * rewrite Gq in *. rewrite upd_eq. rewrite <- Q3, Hx. unfold flying at 2; simpl.
          rewrite RW. now rewrite <- app_assoc.
      + exists r. split; [|split].
        * intros j0 H1. unfold upd. destruct (Nat.eqb_spec j0 j) as [->|]; auto.
          exfalso. exact (raises_not _ _ RW H1).
        * destruct (signals j) as [v|] eqn:E; auto. rewrite upd_ne; auto. intros ->.
          exact (raises_not _ _ RW E).
        * rewrite <- Q3. f_equal. f_equal. at_index (s_queue (sites w)) q; auto.
          rewrite Hx. unfold flying at 2; simpl. now rewrite RW.
  Qed.

  Lemma match_control s i e p c ev : match_states s i ->
    cstep guard ctl e (ipos i e) (ics i e) p c ev ->
    match_states
      (mks (sds s) (upd (scs s) e c) (upd (spos s) e (epos instr_of p)) (sifl s)
           (upd (scnt s) e (count_event (kon (epos instr_of p)) ev (scnt s e))) (src s))
      (mki (ids i) (upd (ics i) e c) (upd (ipos i) e p) (iifl i) (isem i) (iregs i)).
  Proof.
    intros M St. pose proof (cstep_erase instr_of St) as SS.
    pose proof (m_wf _ _ M e) as W. rewrite (m_pos _ _ M e) in W.
    constructor; simpl; try apply M.
    - intros e0. at_index e0 e; auto; apply M.
    - intros e0. at_index e0 e; auto; apply M.
    - intros e0. at_index e0 e; [|apply M]. eapply wfp_step; eauto.
    - intros e0. at_index e0 e; [|apply M].
      pose proof (m_counts _ _ M e) as X. rewrite (m_pos _ _ M e) in X.
      destruct ev as [l|]; cbn [count_event].
      + destruct (entered_body _ _ _ _ _ _ _ _ _ _ SS W) as (F1 & F2 & F3 & F4 & _).
        eapply HI_enter; eauto.
      + eapply HI_weaken; eauto. eapply no_entry_no_new_body; eauto.
    - intros e0. destruct (Nat.eq_dec e0 e) as [->|N].
      2:{ unfold sat; simpl. rewrite !upd_ne by auto. apply M. }
      unfold sat; simpl. rewrite !upd_eq.
      destruct (m_facts _ _ M e) as (about & inv & A & Dn & PO & V & _).
      rewrite (m_pos _ _ M e) in V. simpl in V.
      pose proof (m_counts _ _ M e) as X. rewrite (m_pos _ _ M e) in X. simpl in X.
      rewrite active_erased in X.
      destruct (chk_step T signals e about inv C guard ctl _ _ _ _ _ A Dn _ _ St PO W X V)
        as (A' & PO' & V').
      exists about, inv, A', []. split; auto. split; [exact V'|intros d []].
    - intros w. destruct (m_sema _ _ M w) as (q & Q1 & Q2 & Q3). exists q. simpl.
      split; auto. split; auto.
      destruct (Nat.eq_dec (s_engine (sites w)) e) as [Ge|N]; [|now rewrite !upd_ne by auto].
      rewrite Ge in *. rewrite !upd_eq.
      rewrite (rem_step T _ _ _ _ _ _ _ _ _ (s_body (sites w)) SS W).
      rewrite (m_pos _ _ M e) in Q3.
      destruct ev as [l0|]; auto. cbn [count_event enter_counts tot].
      destruct (Nat.eqb_spec (s_body (sites w)) l0) as [<-|]; [|now rewrite upd_ne].
      rewrite upd_eq, Nat.add_1_r, cyc_last, <- Q3, filter_app. now rewrite <- !app_assoc.
  Qed.

  (** * Forward: run what was added, then match *)

  Lemma next_instr_erased cu : next_instr cu = hd_error (efilter instr_of cu).
  Proof. induction cu as [|[]]; simpl; auto. Qed.

  Definition at_matched_item (i : istate D C) (e : engine) : Prop :=
    match cur (ipos i e) with RegOp _ :: _ | Wait _ :: _ => False | _ => True end.

  (* The added operations at the head of a block can be run, if the specification may issue. *)
  Lemma flush n : forall s i e, match_states s i -> length (cur (ipos i e)) <= n ->
    (forall j, hd_error (cur (spos s e)) = Some j -> forall d, In d (deps T j) -> sat T s e d) ->
    exists i', run istep i [] i' /\ match_states s i' /\ at_matched_item i' e.
  Proof.
    induction n; intros s i e M L HS.
    - exists i. split; [constructor|]. split; auto. unfold at_matched_item.
      destruct (cur (ipos i e)); simpl in *; auto; lia.
    - destruct (ipos i e) as [cu c k] eqn:Hp. simpl in L. destruct cu as [|[j w|o|w] cu].
      + exists i. split; [constructor|]. split; auto. unfold at_matched_item. now rewrite Hp.
      + exists i. split; [constructor|]. split; auto. unfold at_matched_item. now rewrite Hp.
      + pose proof (match_regop _ _ _ _ _ _ _ M Hp) as M'.
        destruct (IHn s _ e M') as (i' & S1 & M1 & F); auto.
        { simpl. rewrite upd_eq. simpl in *. lia. }
        exists i'. split; auto. change (@nil event) with (@nil event ++ []).
        eapply run_cons; eauto. econstructor; eauto.
      + destruct (match_wait _ _ _ _ _ _ _ M Hp) as (MW & j & Nj & HW).
        assert (P : passes i e w).
        { apply HW. apply HS. rewrite (m_pos _ _ M e), Hp. simpl.
          now rewrite <- next_instr_erased. }
        destruct (IHn s _ e (MW P)) as (i' & S1 & M1 & F); auto.
        { simpl. rewrite upd_eq. simpl in *. lia. }
        exists i'. split; auto. change (@nil event) with (@nil event ++ []).
        eapply run_cons; eauto. eapply i_wait; eauto.
  Qed.

  Lemma matched_item_shape (i : istate D C) e : at_matched_item i e ->
    cur (ipos i e) = [] \/
    exists j w cu, ipos i e = mkpos (Issue j w :: cu) (cod (ipos i e)) (kon (ipos i e)).
  Proof.
    unfold at_matched_item. destruct (ipos i e) as [[|[j w|o|w] cu] c k]; simpl; auto;
      try contradiction. right. eauto.
  Qed.

  Theorem forward s i a s' : match_states s i -> sstep s a s' ->
    exists i1 i', run istep i [] i1 /\ istep i1 a i' /\ match_states s' i'.
  Proof.
    intros M St. destruct St.
    - destruct (flush _ s i e M (le_n _)) as (i1 & S1 & M1 & F).
      { rewrite H. simpl. intros j0 Hj; inversion Hj; subst; auto. }
      pose proof (m_pos _ _ M1 e) as MP. rewrite H in MP.
      apply matched_item_shape in F as [F|(j & w & cu1 & Hp)].
      + unfold epos in MP. rewrite F in MP. discriminate.
      + rewrite Hp in MP. unfold epos in MP; simpl in MP. inversion MP; subst.
        pose proof (proj1 (issue_agrees _ _ _ _ _ _ _ _ M1 Hp) H0) as WA.
        eexists _, _. split; [exact S1|]. split; [eapply i_issue; eauto|].
        eapply match_issue; eauto.
    - exists i, (mki (iop i0 (ids i)) (ics i) (ipos i) (upd (iifl i) q x) (isem i) (iregs i)).
      split; [constructor|]. split; [eapply i_commit; rewrite <- (m_flight _ _ M); eauto|].
      eapply match_commit; eauto.
    - eexists i, _. split; [constructor|].
      split; [eapply i_retire; rewrite <- (m_flight _ _ M); eauto|]. eapply match_retire; eauto.
    - pose proof (cstep_needs_empty_block H) as CS.
      destruct (flush _ s i e M (le_n _)) as (i1 & S1 & M1 & F).
      { rewrite CS. simpl; intros; discriminate. }
      rewrite (m_pos _ _ M1 e), (m_control _ _ M1 e) in H.
      apply matched_item_shape in F as [F|(j & w & cu1 & Hp)].
      2:{ rewrite Hp in H. apply cstep_needs_empty_block in H. discriminate. }
      destruct (cstep_lift F H) as (p' & St' & <-).
      eexists _, _. split; [exact S1|]. split; [eapply i_ctl; eauto|]. eapply match_control; eauto.
  Qed.

  (** * Backward *)

  Theorem backward s i a i' : match_states s i -> istep i a i' ->
    exists s', run sstep s a s' /\ match_states s' i'.
  Proof.
    intros M St. destruct St.
    - exists s. split; [constructor|]. eapply match_regop; eauto.
    - exists s. split; [constructor|]. now apply (proj1 (match_wait _ _ _ _ _ _ _ M H)).
    - pose proof (proj2 (issue_agrees _ _ _ _ _ _ _ _ M H) H0) as WA.
      pose proof (m_pos _ _ M e) as MP. rewrite H in MP. unfold epos in MP; simpl in MP.
      eexists. split; [apply run_step; eapply s_issue; eauto|]. eapply match_issue; eauto.
    - rewrite <- (m_flight _ _ M) in H. eexists.
      split; [apply run_step; eapply s_commit; eauto|]. eapply match_commit; eauto.
    - rewrite <- (m_flight _ _ M) in H. eexists.
      split; [apply run_step; eapply s_retire; eauto|]. eapply match_retire; eauto.
    - pose proof (cstep_erase instr_of H) as SS.
      rewrite <- (m_pos _ _ M e), <- (m_control _ _ M e) in SS. eexists.
      split; [apply run_step; eapply s_ctl; eauto|]. eapply match_control; eauto.
  Qed.
End Bisimulation.
