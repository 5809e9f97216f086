(* Invariant.v -- well-formed programs, and what their entry counts satisfy

   Purpose   Ids are unique and the tables describe the program; each body then lies in wait exactly
             once per entry ([rem]), and entry counts behave like the histories that the paper's sum
             speaks about ([HI]).
   Paper     UniqueLoopIds, UniqueInstrIds, SpecInv (section 6.4)
   C++       checkKernel() in lib/Model/Check.cpp refuses what is not well formed
   Trusted   nothing: the checker decides well-formedness itself (Certificate.v) *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics Decode Expr Checker.

(** * Well-formed programs *)

Section WellFormed.
  Variable T : tables.

  (* The engine's instructions directly in a statement list, in order. *)
  Fixpoint direct (e : engine) (c : code instr) : list instr :=
    match c with
    | CNil => []
    | CBlock f r => nth e f [] ++ direct e r
    | CLoop _ _ r | CCond _ _ _ _ r => direct e r
    end.

  (* The body b of l, met inside act. *)
  Definition wf_body (e : engine) (act : list loopid) (l : loopid) (b : code instr) : Prop :=
    ~ In l act /\ path T l = l :: act /\ direct e b = body T l e.

  Definition wf_instrs (e : engine) (l : loopid) (xs : list instr) : Prop :=
    forall i, In i xs -> home T i = l /\ eng T i = e.

  Fixpoint wfc (e : engine) (act : list loopid) (c : code instr) : Prop :=
    match c with
    | CNil => True
    | CBlock f r => wf_instrs e (hd ROOT act) (nth e f []) /\ wfc e act r
    | CLoop l b r => wf_body e act l b /\ wfc e (l :: act) b /\ wfc e act r
    | CCond t f bt bf r =>
        wf_body e act t bt /\ wf_body e act f bf /\
        wfc e (t :: act) bt /\ wfc e (f :: act) bf /\ wfc e act r
    end.

  Fixpoint wfk (e : engine) (k : kont instr) : Prop :=
    match k with
    | KStop => True
    | KLoop l n b r k =>
        (wf_body e (active k) l b /\ 1 <= n) /\
        wfc e (l :: active k) b /\ wfc e (active k) r /\ wfk e k
    | KCond l r k =>
        ~ In l (active k) /\ path T l = l :: active k /\ wfc e (active k) r /\ wfk e k
    end.

  Definition wfp (e : engine) (p : pos instr) : Prop :=
    wfk e (kon p) /\ wfc e (active (kon p)) (cod p) /\ wf_instrs e (owner (kon p)) (cur p).

  Definition well_formed (Ps : code instr) : Prop :=
    path T ROOT = [ROOT] /\ forall e, wfc e [ROOT] Ps /\ direct e Ps = body T ROOT e.

  Lemma root_active {A} (k : kont A) : In ROOT (active k).
  Proof. induction k; simpl; auto. Qed.

  Lemma owner_active {A} (k : kont A) : In (owner k) (active k).
  Proof. destruct k; simpl; auto. Qed.

  Lemma owner_loop {A} l n (b r : code A) k : owner (KLoop l n b r k) = l.
  Proof. reflexivity. Qed.

  Lemma owner_cond {A} l (r : code A) k : owner (KCond l r k) = l.
  Proof. reflexivity. Qed.

  Lemma owner_other {A} (k : kont A) l : ~ In l (active k) -> owner k =? l = false.
  Proof. intros H. apply Nat.eqb_neq. intros <-. apply H, owner_active. Qed.

  Lemma path_of_owner e k : path T ROOT = [ROOT] -> wfk e k -> path T (owner k) = active k.
  Proof.
    intros HR. destruct k; simpl; auto.
    - intros (((_ & H & _) & _) & _). exact H.
    - intros (_ & H & _). exact H.
  Qed.

  Lemma trips_outside e k x : wfk e k -> ~ In x (active k) -> trips k x = 0.
  Proof.
    induction k; simpl; intros W H.
    - destruct (Nat.eqb_spec x ROOT); auto. exfalso; auto.
    - destruct (Nat.eqb_spec x l); [exfalso; auto|]. apply IHk; tauto.
    - destruct (Nat.eqb_spec x l); [exfalso; auto|]. apply IHk; tauto.
  Qed.

  Lemma trips_inside e k x : wfk e k -> In x (active k) -> 1 <= trips k x.
  Proof.
    induction k; simpl; intros W H.
    - destruct H as [<-|[]]. auto.
    - destruct (Nat.eqb_spec x l); [tauto|]. apply IHk; [tauto|]. destruct H; [congruence|auto].
    - destruct (Nat.eqb_spec x l); [lia|]. apply IHk; [tauto|]. destruct H; [congruence|auto].
  Qed.

  Lemma trips_root e k : wfk e k -> trips k ROOT = 1.
  Proof.
    induction k; intros W; [reflexivity| |]; cbn [trips]; cbn [wfk] in W;
      (destruct (Nat.eqb_spec ROOT l) as [E|E]; [exfalso|apply IHk; tauto]).
    - apply (proj1 (proj1 (proj1 W))). rewrite <- E. apply root_active.
    - apply (proj1 W). rewrite <- E. apply root_active.
  Qed.

  (** * What is left of a body in its current iteration *)

  Fixpoint remk (e : engine) (l : loopid) (k : kont instr) : list instr :=
    match k with
    | KStop => []
    | KLoop _ _ _ r k | KCond _ r k => (if owner k =? l then direct e r else []) ++ remk e l k
    end.

  Definition rem (e : engine) (l : loopid) (p : pos instr) : list instr :=
    (if owner (kon p) =? l then cur p ++ direct e (cod p) else []) ++ remk e l (kon p).

  Lemma remk_outside e l k : ~ In l (active k) -> remk e l k = [].
  Proof.
    induction k; simpl; intros H; auto;
      rewrite IHk, owner_other by tauto; reflexivity.
  Qed.

  Lemma rem_outside e l p : ~ In l (active (kon p)) -> rem e l p = [].
  Proof. intros H. unfold rem. rewrite owner_other, remk_outside by auto. reflexivity. Qed.

  Section Step.
    Variable C : Type.
    Variables (guard : engine -> loopid -> C -> bool) (ctl : engine -> loopid -> C -> C).

    Lemma wfp_step e p c p' c' ev : cstep guard ctl e p c p' c' ev -> wfp e p -> wfp e p'.
    Proof.
      destruct 1; unfold wfp, wf_instrs; simpl; intros (W & Wc & Wi); try contradiction.
      - destruct Wc as (H1 & H2). repeat split; auto; now apply H1.
      - destruct Wc as (H1 & H2 & H3). repeat split; auto; try apply H1; try contradiction.
      - destruct Wc as (H1 & H2 & H3). repeat split; auto; contradiction.
      - destruct W as ((H1 & H2) & H3 & H4 & H5).
        repeat split; auto; try apply H1; try contradiction; lia.
      - destruct W as (H1 & H2 & H3 & H4). repeat split; auto; contradiction.
      - destruct Wc as (H1 & H2 & H3 & H4 & H5).
        repeat split; auto; try apply H1; contradiction.
      - destruct Wc as (H1 & H2 & H3 & H4 & H5).
        repeat split; auto; try apply H2; contradiction.
      - destruct W as (H1 & H2 & H3 & H4). repeat split; auto; contradiction.
    Qed.

    (* Entering a body appends it; no other control step changes what is left. *)
    Lemma rem_step e p c p' c' ev x : cstep guard ctl e p c p' c' ev -> wfp e p ->
      rem e x p' = match ev with
                   | Some l => if x =? l then rem e x p ++ body T x e else rem e x p
                   | None => rem e x p
                   end.
    Proof.
      assert (ENTER : forall (k : kont instr) l b (r : code instr),
        wf_body e (active k) l b ->
        (if l =? x then direct e b else []) ++
          (if owner k =? x then direct e r else []) ++ remk e x k =
        (if x =? l then ((if owner k =? x then direct e r else []) ++ remk e x k) ++ body T x e
         else (if owner k =? x then direct e r else []) ++ remk e x k)).
      { intros k l b r (H1 & _ & H2). rewrite (Nat.eqb_sym l x).
        destruct (Nat.eqb_spec x l) as [->|]; [|reflexivity].
        rewrite owner_other, remk_outside by auto. simpl. now rewrite app_nil_r. }
      destruct 1; unfold wfp, rem; intros (W & Wc & _); cbn [kon cur cod remk wfk wfc] in *;
        rewrite ?owner_loop, ?owner_cond.
      - reflexivity.
      - apply ENTER. apply Wc.
      - reflexivity.
      - cbn [app direct]. rewrite (ENTER k l b r (proj1 (proj1 W))). destruct (l =? x); reflexivity.
      - destruct (l =? x); reflexivity.
      - apply ENTER. apply Wc.
      - apply ENTER. apply Wc.
      - destruct (l =? x); reflexivity.
    Qed.

    (* What the checker and the counts need to know of a step that enters a body. *)
    Lemma entered_body e p c p' c' l : cstep guard ctl e p c p' c' (Some l) -> wfp e p ->
      l <> ROOT /\ path T l = active (kon p') /\ In l (active (kon p')) /\
      (forall x, In x (active (kon p')) -> x = l \/ In x (active (kon p))) /\
      (forall x, In x (active (kon p)) -> In x (active (kon p'))).
    Proof.
      assert (NR : forall (k : kont instr) l, ~ In l (active k) -> l <> ROOT).
      { intros k x H ->. apply H, root_active. }
      intros St W. unfold wfp in W. inversion St; subst; cbn [kon cod active wfk wfc] in *.
      - destruct W as (_ & ((H1 & H2 & _) & _) & _).
        repeat split; simpl; eauto. intros x [?|?]; auto.
      - destruct W as ((((H1 & H2 & _) & _) & _) & _). repeat split; simpl; eauto.
      - destruct W as (_ & ((H1 & H2 & _) & _) & _).
        repeat split; simpl; eauto. intros x [?|?]; auto.
      - destruct W as (_ & (_ & (H1 & H2 & _) & _) & _).
        repeat split; simpl; eauto. intros x [?|?]; auto.
    Qed.

    Lemma no_entry_no_new_body {X} e (p : pos X) c p' c' : cstep guard ctl e p c p' c' None ->
      forall x, In x (active (kon p')) -> In x (active (kon p)).
    Proof. intros St. inversion St; subst; simpl; auto. Qed.

    (* An entered body's iteration number grows by one; the others stay. *)
    Lemma trips_on_entry e p c p' c' l : cstep guard ctl e p c p' c' (Some l) -> wfp e p ->
      forall x, trips (kon p') x = if x =? l then trips (kon p) l + 1 else trips (kon p) x.
    Proof.
      intros St W x. unfold wfp in W.
      inversion St; subst; cbn [kon cod wfk wfc trips] in *.
      - destruct W as (Wk & ((H1 & _) & _) & _). destruct (x =? l) eqn:E; auto.
        now rewrite (trips_outside e k l).
      - rewrite Nat.eqb_refl. destruct (x =? l); auto. lia.
      - destruct W as (Wk & ((H1 & _) & _) & _). destruct (x =? l) eqn:E; auto.
        now rewrite (trips_outside e k l).
      - destruct W as (Wk & (_ & (H1 & _) & _) & _). destruct (x =? l) eqn:E; auto.
        now rewrite (trips_outside e k l).
    Qed.
  End Step.

  (** * Histories *)

  Lemma sumH_ext h h' n p : (forall i, 1 <= i <= n -> h i p = h' i p) -> sumH h n p = sumH h' n p.
  Proof.
    induction n; simpl; intros H; auto. rewrite IHn, H by (intros; try apply H; lia). auto.
  Qed.

  Lemma sumH_ones h n p : (forall i, 1 <= i <= n -> h i p = 1) -> sumH h n p = n.
  Proof.
    induction n; simpl; intros H; auto. rewrite IHn, H by (intros; try apply H; lia). lia.
  Qed.

  Lemma sumH_monotone h n m p : n <= m -> sumH h n p <= sumH h m p.
  Proof. induction 1; simpl; lia. Qed.

  Record HI (c : counts) (act : list loopid) : Prop := {
    hi_root : tot c ROOT = 1;
    hi_active : forall s, In s act -> 1 <= tot c s;
    hi_future : forall s i p, tot c s < i -> ent c s i p = 0;
    hi_sum : forall s p, In s (path T p) -> sumH (ent c s) (tot c s) p = tot c p;
    hi_self : forall s i, 1 <= i <= tot c s -> ent c s i s = 1 }.

  Lemma HI_weaken c act act' : HI c act -> (forall s, In s act' -> In s act) -> HI c act'.
  Proof. intros [] H. constructor; auto. Qed.

  Lemma HI_initial : path T ROOT = [ROOT] -> HI counts0 [ROOT].
  Proof.
    intros HP. constructor; simpl; auto.
    - intros s [<-|[]]; auto.
    - intros s i p H. destruct (Nat.eqb_spec s ROOT); simpl; auto.
      destruct (Nat.eqb_spec i 1); simpl; auto. subst; lia.
    - intros s p H. destruct (Nat.eqb_spec s ROOT) as [->|N]; simpl.
      + destruct (p =? ROOT); auto.
      + destruct (Nat.eqb_spec p ROOT); auto. subst. rewrite HP in H.
        destruct H as [H|[]]. exfalso; apply N; rewrite <- H; reflexivity.
    - intros s i Hi. destruct (Nat.eqb_spec s ROOT); [|lia]. subst.
      replace i with 1 by lia. reflexivity.
  Qed.

  Section Entry.
    Variables (A : Type) (k' : kont A) (l : loopid) (c : counts).
    Let c' := enter_counts k' l c.

    Lemma tot_entered : tot c' l = tot c l + 1.
    Proof. unfold c'; simpl. now rewrite upd_eq. Qed.

    Lemma tot_not_entered s : s <> l -> tot c' s = tot c s.
    Proof. intros. unfold c'; simpl. now rewrite upd_ne. Qed.

    Lemma ent_not_entered s i p : i <> tot c' s \/ p <> l -> ent c' s i p = ent c s i p.
    Proof.
      intros H. unfold c' in *; simpl in *. destruct (existsb _ _); simpl; auto.
      destruct (Nat.eqb_spec i (upd (tot c) l (tot c l + 1) s)), (Nat.eqb_spec p l);
        simpl; auto; tauto.
    Qed.

    Lemma ent_entered s : In s (active k') -> ent c' s (tot c' s) l = ent c s (tot c' s) l + 1.
    Proof.
      intros H. unfold c'; simpl. apply inb_In in H. unfold inb in H.
      now rewrite H, !Nat.eqb_refl.
    Qed.

    Theorem HI_enter act : HI c act -> l <> ROOT -> path T l = active k' -> In l (active k') ->
      (forall s, In s (active k') -> s = l \/ In s act) -> HI c' (active k').
    Proof.
      intros E NR HP Hl Ha. constructor.
      - rewrite tot_not_entered; auto. apply (hi_root _ _ E).
      - intros s Hs. destruct (Nat.eq_dec s l) as [->|N]; [rewrite tot_entered; lia|].
        rewrite tot_not_entered by auto. destruct (Ha s Hs); [congruence|].
        now apply (hi_active _ _ E).
      - intros s i p Hi. rewrite ent_not_entered by lia. apply (hi_future _ _ E).
        destruct (Nat.eq_dec s l) as [->|N]; [rewrite tot_entered in Hi; lia|].
        now rewrite tot_not_entered in Hi.
      - intros s p Hs. destruct (Nat.eq_dec p l) as [->|NP].
        + rewrite tot_entered. rewrite HP in Hs. destruct (Nat.eq_dec s l) as [->|N].
          * pose proof (ent_entered l Hl) as X. rewrite tot_entered in *.
            rewrite Nat.add_1_r in *. cbn [sumH]. rewrite X, (hi_future _ _ E) by lia.
            rewrite (sumH_ext _ (ent c l)).
            2:{ intros i Hi. apply ent_not_entered. left. rewrite tot_entered. lia. }
            rewrite (hi_sum _ _ E); [lia|]. rewrite HP; auto.
          * destruct (Ha s Hs) as [?|Hs']; [congruence|].
            pose proof (hi_active _ _ E _ Hs') as P1.
            pose proof (ent_entered s Hs) as X. rewrite tot_not_entered in X |- * by auto.
            pose proof (hi_sum _ _ E s l) as Y. rewrite HP in Y. specialize (Y Hs).
            destruct (tot c s) as [|n] eqn:Q; [lia|]. cbn [sumH] in *. rewrite X.
            rewrite (sumH_ext _ (ent c s)); [lia|]. intros i Hi. apply ent_not_entered.
            left. rewrite tot_not_entered by auto. lia.
        + rewrite (tot_not_entered p) by auto.
          rewrite (sumH_ext _ (ent c s)) by (intros; apply ent_not_entered; auto).
          rewrite <- (hi_sum _ _ E s p Hs).
          destruct (Nat.eq_dec s l) as [->|N]; [|now rewrite tot_not_entered].
          rewrite tot_entered, Nat.add_1_r. cbn [sumH].
          rewrite (hi_future _ _ E l (S (tot c l))); lia.
      - intros s i Hi. destruct (Nat.eq_dec s l) as [->|N].
        + rewrite tot_entered in Hi. destruct (Nat.eq_dec i (tot c l + 1)) as [->|Ni].
          * pose proof (ent_entered l Hl) as X. rewrite tot_entered in X. rewrite X.
            rewrite (hi_future _ _ E); lia.
          * rewrite ent_not_entered by (rewrite tot_entered; left; lia).
            apply (hi_self _ _ E). lia.
        + rewrite ent_not_entered by auto. rewrite tot_not_entered in Hi by auto.
          now apply (hi_self _ _ E).
    Qed.

    (* The three rules that every snapshot scheme rests on. *)
    Lemma past_shifts m p : past c' l (m + 1) p = past c l m p.
    Proof.
      unfold past. rewrite tot_entered. replace (tot c l + 1 - (m + 1)) with (tot c l - m) by lia.
      apply sumH_ext. intros i Hi. apply ent_not_entered. left. rewrite tot_entered. lia.
    Qed.

    Lemma past_keeps s m p : s <> l -> m <> 0 \/ p <> l -> past c' s m p = past c s m p.
    Proof.
      intros N M. unfold past. rewrite tot_not_entered by auto.
      apply sumH_ext. intros i Hi. apply ent_not_entered. destruct M as [M|M]; auto.
      left. rewrite tot_not_entered by auto. lia.
    Qed.
  End Entry.

  Lemma past_0 c act s p : HI c act -> In s (path T p) -> past c s 0 p = tot c p.
  Proof. intros E H. unfold past. rewrite Nat.sub_0_r. now apply (hi_sum _ _ E). Qed.

  Lemma past_self c act s k : HI c act -> past c s k s = tot c s - k.
  Proof.
    intros E. unfold past. apply sumH_ones. intros i Hi. apply (hi_self _ _ E). lia.
  Qed.

  Lemma past_antitone c s k m p : k <= m -> past c s m p <= past c s k p.
  Proof. intros. unfold past. apply sumH_monotone. lia. Qed.

  Lemma env_ok_of e c k : HI c (active k) -> wfk e k -> env_ok (active k) (genv_of c (trips k)).
  Proof.
    intros E W. unfold env_ok, genv_of; simpl. split; [apply (hi_root _ _ E)|].
    split; [eapply trips_root; eauto|]. intros l Hl. split.
    - now apply (hi_active _ _ E).
    - eapply trips_inside; eauto.
  Qed.
End WellFormed.
