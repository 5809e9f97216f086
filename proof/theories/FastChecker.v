(* FastChecker.v -- the same decision, for kernels of real size

   Purpose   [certify] looks things up in lists and counts the instructions of a semaphore anew for
             each wait, which takes quadratic time. [certify_fast] does with search trees, and
             counts once; it is proved to be the same function. This one is extracted.
   Paper     -
   C++       what runs in tally-certify
   Trusted   nothing *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics Maps Expr Known Checker Infer Invariant Bisimulation.
From Tally Require Import Legality Certificate FastTables FastLegal.

(** * What uses tables does not tell equal ones apart *)

Section Same.
  Variables F T : tables.
  Hypothesis ST : same_tables F T.

  Ltac same := rewrite ?(s_home _ _ ST), ?(s_eng _ _ ST), ?(s_que _ _ ST), ?(s_weight _ _ ST),
                       ?(s_path _ _ ST), ?(s_body _ _ ST), ?(s_deps _ _ ST).

  Lemma under_same l p : under (path F) l p = under (path T) l p.
  Proof. unfold under. now same. Qed.

  Lemma enter_same rs l A : enter (path F) rs l A = enter (path T) rs l A.
  Proof.
    assert (P : forall x, as_past (path F) l x = as_past (path T) l x).
    { induction x as [| | | | | |[] a IHa b IHb]; cbn [as_past]; rewrite ?under_same; auto;
        [destruct b|destruct b|destruct a]; auto; now rewrite ?IHa, ?IHb. }
    apply renew_ext. intros r. apply flat_map_ext. intros x. unfold entered1. now rewrite P.
  Qed.

  Lemma wfcb_same e c : forall act, wfcb F e act c = wfcb T e act c.
  Proof.
    assert (W : forall act l b, wf_bodyb F e act l b = wf_bodyb T e act l b).
    { intros. unfold wf_bodyb. now same. }
    induction c; intros act; cbn [wfcb]; rewrite ?W, ?IHc, ?IHc1, ?IHc2, ?IHc3; auto.
    f_equal. apply forallb_same. intros. now same.
  Qed.

  Lemma distance_ok_same act p x : distance_ok F act p x = distance_ok T act p x.
  Proof. destruct x; cbn [distance_ok]; now same. Qed.

  Lemma at_most_same a b : at_most F a b = at_most T a b.
  Proof.
    assert (C : forall a b, count_le F a b = count_le T a b).
    { intros. unfold count_le. destruct a0; auto. destruct b0; auto. now same. }
    assert (L : forall a b, linear_le F a b = linear_le T a b).
    { intros. unfold linear_le, base_le. rewrite C. f_equal. f_equal. f_equal. f_equal.
      destruct (base a0) as [| | | | | |[] u v]; auto. }
    unfold at_most. destruct (masked_of a) as [[] ?], (masked_of b) as [[] ?]; now rewrite ?L.
  Qed.

  Lemma never_owed_same act d : never_owed F act d = never_owed T act d.
  Proof. unfold never_owed. rewrite distance_ok_same. now same. Qed.

  Lemma infer_pass_same e about G c : forall act A N,
    infer_pass F e about G act A N c = infer_pass T e about G act A N c.
  Proof.
    induction c; intros act A0 N; cbn [infer_pass]; auto.
    - rewrite enter_same, IHc1. destruct (infer_pass T e about G _ _ N c1). now rewrite IHc2.
    - rewrite !enter_same, IHc1. destruct (infer_pass T e about G _ _ N c1).
      rewrite IHc2. destruct (infer_pass T e about G _ _ _ c2). now rewrite IHc3.
  Qed.

  Lemma infer_same e A c : infer F e A c = infer T e A c.
  Proof.
    unfold infer. generalize infer_passes (about_of A) (at_start A) (@Leaf (tree (list expr))).
    induction n as [|n IH]; intros about A0 G; cbn [infer_upto]; auto. rewrite infer_pass_same.
    destruct (_ =? _); auto.
  Qed.

  (** ** The group of a semaphore, counted once *)

  Variables fsignals signals : instr -> option sema.
  Hypothesis SG : forall i, fsignals i = signals i.

  Record entry := mkentry { members : list instr; number : nat; no_twin : bool }.
  Definition entry_of (g : list instr) : entry := mkentry g (length g) (nodupb g).

  Variable counted : sema -> option entry.

  Definition entry_for (w : sema) (i : instr) : entry :=
    match counted w with
    | Some x => x
    | None => entry_of (group F fsignals w i)
    end.

  Hypothesis counted_right : forall w i x, raises signals w i = true -> counted w = Some x ->
    x = entry_of (group T signals w i).

  Lemma raises_same w i : raises fsignals w i = raises signals w i.
  Proof. unfold raises. now rewrite SG. Qed.

  Lemma group_same w i : group F fsignals w i = group T signals w i.
  Proof.
    unfold group. same. apply filter_ext. intros. apply raises_same.
  Qed.

  Lemma entry_for_right w i : raises signals w i = true ->
    entry_for w i = entry_of (group T signals w i).
  Proof.
    intros R. unfold entry_for. destruct (counted w) eqn:E; [now apply counted_right|].
    now rewrite group_same.
  Qed.

  (* All that can be asked of a wait, with the threshold it ought to have. *)
  Definition fast_wait (act : list loopid) (w : sema) (d : dep) (judge : expr -> bool) : bool :=
    let p := prd d in
    let h := home F p in
    distance_ok F act h (dist d) && raises fsignals w p &&
    let x := entry_for w p in
    let K := place (members x) p in
    no_twin x && (1 <=? K) &&
    judge (mk act AMul (mask act h (dist d))
            (mk act AMul (EC (weight F (que F p)))
              (mk act ASub (mk act AMul (EC (number x)) (runs act h (dist d))) (EC (number x -
                  K))))).

  Lemma fast_wait_right act w d judge : fast_wait act w d judge =
    distance_ok T act (home T (prd d)) (dist d) && producer_ok T signals w d &&
    judge (threshold T signals act w d).
  Proof.
    unfold fast_wait, producer_ok, threshold. cbv zeta. same.
    rewrite distance_ok_same, raises_same.
    destruct (distance_ok T act _ _); simpl; auto. destruct (raises signals w (prd d)) eqn:R; auto.
    rewrite entry_for_right by auto. simpl. reflexivity.
  Qed.

  Definition fast_served act A (w : wait) (j : instr) : list dep :=
    filter (fun d => fast_wait act (fst w) d (holds act A (snd w))) (deps F j).

  Definition fast_covers (act : list loopid) (A : facts) (o : operand) (x : expr) : bool :=
    some_version act A x (fun y => existsb (at_most F y) (ovals A o)).

  Definition fast_covered act A (w : wait) (j : instr) : list dep :=
    filter (fun d => fast_wait act (fst w) d (fast_covers act A (snd w))) (deps F j).

  Definition fast_all_waited act (j : instr) (Dn : list dep) : bool :=
    forallb (fun d => dep_mem d Dn || never_owed F act d) (deps F j).

  Lemma fast_served_right act A w j : fast_served act A w j = served T signals act A w j.
  Proof.
    unfold fast_served, served. same. apply filter_ext. intros d. apply fast_wait_right.
  Qed.

  Lemma fast_covered_right act A w j : fast_covered act A w j = covered T signals act A w j.
  Proof.
    unfold fast_covered, covered. same. apply filter_ext. intros d. rewrite fast_wait_right.
    unfold wait_covers, fast_covers, some_version. f_equal.
    f_equal; [f_equal|]; apply existsb_same; intros; apply at_most_same.
  Qed.

  Lemma fast_all_waited_right act j Dn : fast_all_waited act j Dn = all_waited T act j Dn.
  Proof.
    unfold fast_all_waited, all_waited. same. apply forallb_same. intros.
    now rewrite never_owed_same.
  Qed.

  (** ** The checker for one engine *)

  Fixpoint fast_items (act : list loopid) (A : facts) (Dn : list dep) (xs : list item)
    : option facts :=
    match xs with
    | [] => Some A
    | RegOp o :: t => fast_items act (exec_facts act o A) Dn t
    | Wait w :: t =>
        match next_instr t with
        | None => None
        | Some j =>
            match fast_served act A w j with
            | [] => None
            | _ :: _ => fast_items act A (fast_covered act A w j ++ Dn) t
            end
        end
    | Issue j None :: t => if fast_all_waited act j Dn then fast_items act A [] t else None
    | Issue j (Some w) :: t =>
        match fast_served act A w j with
        | [] => None
        | _ :: _ =>
            if fast_all_waited act j (fast_covered act A w j ++ Dn)
            then fast_items act A [] t else None
        end
    end.

  Lemma fast_items_right act xs : forall A Dn,
    fast_items act A Dn xs = items T signals act A Dn xs.
  Proof.
    induction xs as [|[j [w|]|o|w] xs IH]; intros A Dn; cbn [fast_items items]; auto;
      rewrite ?fast_served_right, ?fast_covered_right, ?fast_all_waited_right, ?IH; auto.
    destruct (next_instr xs) as [j|]; auto.
    rewrite fast_served_right, fast_covered_right. destruct (served T signals act A w j); auto.
  Qed.

  Variable e : engine.
  Variable about : tree (list reg).
  Variable inv : guess expr.

  Fixpoint fast_chk (act : list loopid) (A : facts) (c : code item) : option facts :=
    match c with
    | CNil => Some A
    | CBlock f r =>
        match fast_items act A [] (nth e f []) with
        | Some A' => fast_chk act A' r
        | None => None
        end
    | CLoop l b r =>
        let rs := touched e about b in
        let H := get_or [] (get_or Leaf inv l) in
        let A0 := loop_head rs l (inner b) H A in
        if all_known rs H (before_loop l A) then
          match fast_chk (l :: act) (enter (path F) rs l A0) b with
          | Some A' => if all_known rs H (values A') then fast_chk act (leave rs l A0) r else None
          | None => None
          end
        else None
    | CCond lt lf bt bf r =>
        let rt := touched e about bt in
        let rf := touched e about bf in
        match fast_chk (lt :: act) (enter (path F) rt lt A) bt with
        | Some At =>
            match fast_chk (lf :: act) (enter (path F) rf lf A) bf with
            | Some Af => fast_chk act (joined (rt ++ rf) lt lf (inner bt ++ inner bf) A At Af) r
            | None => None
            end
        | None => None
        end
    end.

  Lemma fast_chk_right c : forall act A, fast_chk act A c = chk T signals e about inv act A c.
  Proof.
    induction c; intros act A; cbn [fast_chk chk]; cbv zeta; auto.
    - rewrite fast_items_right. destruct (items T signals act A [] (nth e f [])); auto.
    - rewrite enter_same, IHc1. unfold at_head. destruct (all_known _ _ _); auto.
      destruct (chk T signals e about inv (l :: act) _ c1); auto. destruct (all_known _ _ _); auto.
    - rewrite !enter_same, IHc1, IHc2. destruct (chk T signals e about inv (lt :: act) _ c1); auto.
      destruct (chk T signals e about inv (lf :: act) _ c2); auto.
  Qed.
End Same.

(** * For a whole certificate *)

Definition group_at (F : tables) (fsignals : instr -> option sema) (p : sema * site) : entry :=
  entry_of (filter (raises fsignals (fst p)) (body F (Bisimulation.s_body (snd p)) (s_engine (snd
      p)))).

(* Counted at the first site of each semaphore; what is counted elsewhere is not found. *)
Definition entries (F : tables) (fsignals : instr -> option sema) (c : cert) : tree entry :=
  map_of (List.map (fun p => (fst p, group_at F fsignals p)) (c_sites c)).

Definition fast_engine_ok (c : cert) (F : tables) (fsignals : instr -> option sema)
  (counted : sema -> option entry) (e : engine) : bool :=
  let A := nth e (c_roles c) [] in
  let inv := infer F e A (c_code c) in
  wfcb F e [ROOT] (c_spec c) && true_at_start A &&
  match fast_chk F fsignals counted e (about_of A) inv [ROOT] (at_start A) (c_code c) with
  | Some _ => true
  | None => false
  end.

Definition fast_signal_ok (F : tables) (sites : tree site) (i : instr) (w : sema) : bool :=
  let s := get_or (mksite ROOT 0 0) sites w in
  (home F i =? Bisimulation.s_body s) && (eng F i =? s_engine s) && (que F i =? s_queue s) &&
  (1 <=? weight F (que F i)).

Definition fast_check (c : cert) (F : tables) : bool :=
  let sm := map_of (c_signals c) in
  let sites := map_of (c_sites c) in
  let fsignals := fun i => get sm i in
  let E := entries F fsignals c in
  code_eqb (ecode instr_of (c_code c)) (c_spec c) &&
  (width (c_code c) <=? c_engines c) && (width (c_spec c) <=? c_engines c) &&
  forallb (fun '(i, w) => fast_signal_ok F sites i w) (c_signals c) &&
  forallb (fast_engine_ok c F fsignals (get E)) (seq 0 (S (c_engines c))).

Definition certify_fast (c : cert) : bool :=
  let F := fast_tables c in fast_legal c F && fast_check c F.

(** ** It is the same function *)

Section Right.
  Variable c : cert.
  Let F := fast_tables c.
  Let T := tables_of c.
  Let ST : same_tables F T := fast_tables_same c.

  Let fsignals : instr -> option sema := fun i => get (map_of (c_signals c)) i.

  Lemma fsignals_right i : fsignals i = signals_of c i.
  Proof. apply get_map_of. Qed.

  Lemma fast_signal_right i w :
    fast_signal_ok F (map_of (c_sites c)) i w = signal_ok c T i w.
  Proof.
    unfold fast_signal_ok, signal_ok, site_of. cbv zeta.
    now rewrite get_or_map_of, (s_home _ _ ST), (s_eng _ _ ST), !(s_que _ _ ST), (s_weight _ _ ST).
  Qed.

  Lemma lookup_entries w : get (entries F fsignals c) w =
    option_map (fun s => group_at F fsignals (w, s)) (lookup w (c_sites c)).
  Proof.
    unfold entries. rewrite get_map_of. unfold lookup.
    induction (c_sites c) as [|[v s] x IH]; auto. simpl.
    destruct (Nat.eqb_spec v w); subst; auto.
  Qed.

  Lemma counted_right : forallb (fun '(i, w) => signal_ok c T i w) (c_signals c) = true ->
    forall w i x, raises (signals_of c) w i = true -> get (entries F fsignals c) w = Some x ->
    x = entry_of (group T (signals_of c) w i).
  Proof.
    intros H w i x R E. rewrite lookup_entries in E.
    destruct (lookup w (c_sites c)) as [s|] eqn:L; [|discriminate]. injection E as <-.
    unfold raises in R. destruct (signals_of c i) as [v|] eqn:G; [|discriminate].
    apply Nat.eqb_eq in R. subst v. rewrite forallb_forall in H. apply lookup_In in G.
    apply H in G. unfold signal_ok, site_of, lookup_or in G. rewrite L in G.
    repeat rewrite andb_true_iff in G. destruct G as (((G1 & G2) & _) & _).
    apply Nat.eqb_eq in G1, G2. unfold group_at, group. simpl fst. simpl snd.
    rewrite (s_body _ _ ST), <- G1, <- G2. f_equal. apply filter_ext. intros j.
    apply (raises_same _ _ fsignals_right).
  Qed.

  Lemma fast_engine_right e : forallb (fun '(i, w) => signal_ok c T i w) (c_signals c) = true ->
    fast_engine_ok c F fsignals (get (entries F fsignals c)) e = engine_ok c T e.
  Proof.
    intros H. unfold fast_engine_ok, engine_ok. cbv zeta. rewrite (wfcb_same _ _ ST).
    rewrite (fast_chk_right F T ST fsignals (signals_of c) fsignals_right _ (counted_right H)).
    now rewrite (infer_same _ _ ST).
  Qed.

  Lemma fast_check_right : fast_check c F = check c.
  Proof.
    unfold fast_check, check. cbv zeta. fold fsignals. fold T.
    rewrite (forallb_same (fun '(i, w) => fast_signal_ok F (map_of (c_sites c)) i w)
                          (fun '(i, w) => signal_ok c T i w))
      by (intros [i w]; apply fast_signal_right).
    destruct (forallb (fun '(i, w) => signal_ok c T i w) (c_signals c)) eqn:H;
      [|now rewrite !andb_false_r].
    f_equal. apply forallb_same. intros e. now apply fast_engine_right.
  Qed.
End Right.

Theorem certify_fast_right c : certify_fast c = certify c.
Proof.
  unfold certify_fast, certify. cbv zeta. now rewrite fast_legal_right, fast_check_right.
Qed.
