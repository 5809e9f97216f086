(* Certificate.v -- one boolean for a whole kernel, and that it is right

   Purpose   A certificate holds a kernel as it was read and the code that was made for it.
             [certify] decides whether the kernel is legal and whether the code realises it. Tables
             are computed from the kernel's text, so that nothing about them need be believed.
   Paper     the hypotheses of theorem 1, decided
   C++       what a compiler prints; the checker that reads it is extracted from here
   Trusted   nothing but that the certificate is the kernel and the code that are meant

   All look-ups go through [lookup]; maps can take its place without touching a proof. *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics Decode Expr Known Checker Infer Invariant CheckerSound.
From Tally Require Import Bisimulation Legality.

(** * Look-up *)

Definition table (B : Type) := list (nat * B).

Definition lookup {B} (k : nat) (x : table B) : option B :=
  option_map snd (find (fun p => fst p =? k) x).

Definition lookup_or {B} (d : B) (k : nat) (x : table B) : B :=
  match lookup k x with Some b => b | None => d end.

Lemma lookup_In {B} k (x : table B) b : lookup k x = Some b -> In (k, b) x.
Proof.
  unfold lookup. destruct (find _ x) as [[k' b']|] eqn:F; [|discriminate].
  apply find_some in F as [F E]. simpl in E. apply Nat.eqb_eq in E. simpl. congruence.
Qed.

(** * Certificates *)

Record cert := mkcert {
  c_engines : nat;                  (* engines are 0 .. c_engines - 1 *)
  c_spec : code instr;              (* the kernel *)
  c_code : code item;               (* the code *)
  c_deps : table (list dep);        (* of an instruction *)
  c_queues : table queue;           (* of an instruction; every one has an entry *)
  c_weights : table nat;            (* of a queue; 1 if absent *)
  c_signals : table sema;           (* of an instruction *)
  c_sites : table site;             (* of a semaphore *)
  c_roles : list roles;             (* of an engine: what its registers count, at the start *)
  c_ranks : table nat }.            (* of an instruction; see Legality.v *)

(* All bodies, each with the bodies around it and its code. *)
Fixpoint bodies (act : list loopid) (c : code instr) : table (list loopid * code instr) :=
  match c with
  | CNil => []
  | CBlock _ r => bodies act r
  | CLoop l b r => (l, (l :: act, b)) :: bodies (l :: act) b ++ bodies act r
  | CCond t f bt bf r =>
      (t, (t :: act, bt)) :: (f, (f :: act, bf)) ::
      bodies (t :: act) bt ++ bodies (f :: act) bf ++ bodies act r
  end.

Definition all_bodies (c : code instr) : table (list loopid * code instr) :=
  (ROOT, ([ROOT], c)) :: bodies [ROOT] c.

(* Where each instruction is: body and engine. *)
Definition places (n : nat) (c : code instr) : table (loopid * engine) :=
  flat_map (fun '(l, (_, b)) =>
    flat_map (fun e => map (fun i => (i, (l, e))) (direct e b)) (seq 0 n)) (all_bodies c).

Definition tables_of (c : cert) : tables :=
  let bs := all_bodies (c_spec c) in
  let ps := places (c_engines c) (c_spec c) in
  {| home i := fst (lookup_or (ROOT, 0) i ps);
     eng i := snd (lookup_or (ROOT, 0) i ps);
     que i := lookup_or 0 i (c_queues c);
     weight q := lookup_or 1 q (c_weights c);
     path l := fst (lookup_or ([], CNil) l bs);
     body l e := if e <? c_engines c then direct e (snd (lookup_or ([], CNil) l bs)) else [];
     deps i := lookup_or [] i (c_deps c) |}.

Definition signals_of (c : cert) (i : instr) : option sema := lookup i (c_signals c).
Definition site_of (c : cert) (w : sema) : site := lookup_or (mksite ROOT 0 0) w (c_sites c).

(** * Deciding well-formedness *)

Fixpoint list_eqb {A} (eq : A -> A -> bool) (a b : list A) : bool :=
  match a, b with
  | [], [] => true
  | x :: a, y :: b => eq x y && list_eqb eq a b
  | _, _ => false
  end.

Lemma list_eqb_eq {A} (eq : A -> A -> bool) : (forall x y, eq x y = true -> x = y) ->
  forall a b, list_eqb eq a b = true -> a = b.
Proof.
  intros H. induction a; destruct b; simpl; try discriminate; auto.
  rewrite andb_true_iff. intros [E1 E2]. f_equal; auto.
Qed.

Definition nats_eqb := list_eqb Nat.eqb.

Lemma nats_eqb_eq a b : nats_eqb a b = true -> a = b.
Proof. apply list_eqb_eq. intros. now apply Nat.eqb_eq. Qed.

Fixpoint code_eqb (a b : code instr) : bool :=
  match a, b with
  | CNil, CNil => true
  | CBlock f r, CBlock g s => list_eqb nats_eqb f g && code_eqb r s
  | CLoop l x r, CLoop m y s => (l =? m) && code_eqb x y && code_eqb r s
  | CCond t f x y r, CCond t' f' x' y' r' =>
      (t =? t') && (f =? f') && code_eqb x x' && code_eqb y y' && code_eqb r r'
  | _, _ => false
  end.

Lemma code_eqb_eq a : forall b, code_eqb a b = true -> a = b.
Proof.
  induction a; destruct b; simpl; try discriminate; auto;
    repeat rewrite andb_true_iff; repeat rewrite Nat.eqb_eq; intros H;
    repeat match goal with [ X : _ /\ _ |- _ ] => destruct X end; f_equal; auto.
  apply (list_eqb_eq nats_eqb); auto. apply nats_eqb_eq.
Qed.

Fixpoint width {A} (c : code A) : nat :=
  match c with
  | CNil => 0
  | CBlock f r => Nat.max (length f) (width r)
  | CLoop _ b r => Nat.max (width b) (width r)
  | CCond _ _ a b r => Nat.max (width a) (Nat.max (width b) (width r))
  end.

Section WellFormedBool.
  Variable T : tables.

  Definition wf_bodyb (e : engine) (act : list loopid) (l : loopid) (b : code instr) : bool :=
    negb (inb l act) && nats_eqb (path T l) (l :: act) && nats_eqb (direct e b) (body T l e).

  Fixpoint wfcb (e : engine) (act : list loopid) (c : code instr) : bool :=
    match c with
    | CNil => true
    | CBlock f r =>
        forallb (fun i => (home T i =? hd ROOT act) && (eng T i =? e)) (nth e f []) && wfcb e act r
    | CLoop l b r => wf_bodyb e act l b && wfcb e (l :: act) b && wfcb e act r
    | CCond t f bt bf r =>
        wf_bodyb e act t bt && wf_bodyb e act f bf &&
        wfcb e (t :: act) bt && wfcb e (f :: act) bf && wfcb e act r
    end.

  Lemma wf_bodyb_ok e act l b : wf_bodyb e act l b = true -> wf_body T e act l b.
  Proof.
    unfold wf_bodyb, wf_body. repeat rewrite andb_true_iff. intros [[H1 H2] H3].
    apply nats_eqb_eq in H2, H3. split; auto. apply inb_not_In. now destruct (inb l act).
  Qed.

  Lemma wfcb_ok e act c : wfcb e act c = true -> wfc T e act c.
  Proof.
    revert act. induction c; intros act; simpl; auto; repeat rewrite andb_true_iff; intros H.
    - destruct H as [H1 H2]. split; auto. intros i Hi. rewrite forallb_forall in H1.
      apply H1 in Hi. apply andb_true_iff in Hi as [A B]. now apply Nat.eqb_eq in A, B.
    - destruct H as [[H1 H2] H3]. split; auto using wf_bodyb_ok.
    - destruct H as [[[[H1 H2] H3] H4] H5]. auto 10 using wf_bodyb_ok.
  Qed.

  (* Engines beyond the last have empty streams; one of them stands for all. *)
  Lemma direct_beyond e c : width c <= e -> direct e c = [].
  Proof.
    induction c; simpl; intros H; auto.
    - rewrite nth_overflow by lia. apply IHc. lia.
    - apply IHc2; lia.
    - apply IHc3; lia.
  Qed.

  Lemma wfc_beyond n e act c : width c <= n -> n <= e ->
    (forall l e', n <= e' -> body T l e' = []) -> wfc T n act c -> wfc T e act c.
  Proof.
    intros Hw He Hb.
    assert (LP : forall act l b, width b <= n -> wf_body T n act l b -> wf_body T e act l b).
    { intros a l b W (H1 & H2 & _). split; auto. split; auto.
      rewrite Hb, direct_beyond by lia. reflexivity. }
    revert act. induction c; intros act; simpl in *; auto; intros H.
    - split; [|apply IHc; try lia; tauto]. rewrite nth_overflow by lia. intros i [].
    - destruct H as (H1 & H2 & H3).
      split; [apply LP; auto; lia|]. split; [apply IHc1|apply IHc2]; auto; lia.
    - destruct H as (H1 & H2 & H3 & H4 & H5).
      split; [apply LP; auto; lia|]. split; [apply LP; auto; lia|].
      split; [apply IHc1; auto; lia|]. split; [apply IHc2|apply IHc3]; auto; lia.
  Qed.

  Lemma touched_beyond about n e c : width c <= n -> n <= e ->
    touched e about c = touched n about c.
  Proof.
    intros Hw He.
    enough (M : mentions e c = mentions n c) by (unfold touched, concerns; now rewrite M).
    induction c; simpl in *; auto.
    - rewrite !nth_overflow by lia. simpl. apply IHc; lia.
    - now rewrite IHc1, IHc2 by lia.
    - now rewrite IHc1, IHc2, IHc3 by lia.
  Qed.

  Lemma chk_beyond signals about inv n e c : width c <= n -> n <= e ->
    forall act A, chk T signals e about inv act A c = chk T signals n about inv act A c.
  Proof.
    intros Hw He. induction c; intros act A; simpl in *; auto.
    - rewrite !nth_overflow by lia. simpl. apply IHc; lia.
    - rewrite (touched_beyond about n e) by lia. destruct (all_known _ _ _); auto.
      rewrite IHc1 by lia. destruct (chk T signals n about inv _ _ c1); auto.
      destruct (all_known _ _ _); auto. apply IHc2; lia.
    - rewrite !(touched_beyond about n e) by lia. rewrite IHc1, IHc2 by lia.
      destruct (chk T signals n about inv _ _ c1); auto.
      destruct (chk T signals n about inv _ _ c2); auto. apply IHc3; lia.
  Qed.
End WellFormedBool.

(** * The checker for a certificate *)

(* One engine more than there are stands for all that do nothing. *)
Definition engine_ok (c : cert) (T : tables) (e : engine) : bool :=
  let A := nth e (c_roles c) [] in
  wfcb T e [ROOT] (c_spec c) && true_at_start A &&
  let inv := infer T e A (c_code c) in
  match chk T (signals_of c) e (about_of A) inv [ROOT] (at_start A) (c_code c) with
  | Some _ => true
  | None => false
  end.

Definition signal_ok (c : cert) (T : tables) (i : instr) (w : sema) : bool :=
  let s := site_of c w in
  (home T i =? s_body s) && (eng T i =? s_engine s) && (que T i =? s_queue s) &&
  (1 <=? weight T (que T i)).

(* The code realises the kernel. *)
Definition check (c : cert) : bool :=
  let T := tables_of c in
  code_eqb (ecode instr_of (c_code c)) (c_spec c) &&
  (width (c_code c) <=? c_engines c) && (width (c_spec c) <=? c_engines c) &&
  forallb (fun '(i, w) => signal_ok c T i w) (c_signals c) &&
  forallb (engine_ok c T) (seq 0 (S (c_engines c))).

(* The branches of each conditional. *)
Fixpoint branches (c : code instr) : list (loopid * loopid) :=
  match c with
  | CNil => []
  | CBlock _ r => branches r
  | CLoop _ b r => branches b ++ branches r
  | CCond t f bt bf r => (t, f) :: branches bt ++ branches bf ++ branches r
  end.

Definition is_branch (c : cert) (l : loopid) : bool :=
  existsb (fun '(t, f) => (l =? t) || (l =? f)) (branches (c_spec c)).

Definition are_opposite (c : cert) (a b : loopid) : bool :=
  existsb (fun '(t, f) => (a =? t) && (b =? f) || (a =? f) && (b =? t)) (branches (c_spec c)).

Definition rank_of (c : cert) (i : instr) : nat := lookup_or 0 i (c_ranks c).

Definition has_queue (c : cert) (i : instr) : bool :=
  match lookup i (c_queues c) with Some _ => true | None => false end.

(* The kernel is one that makes sense. *)
Definition legal (c : cert) : bool :=
  let T := tables_of c in
  forallb (fun '(i, _) => has_queue c i) (places (c_engines c) (c_spec c)) &&
  match ranked (rank_of c) 0 (c_spec c) with Some _ => true | None => false end &&
  match numbered 1 (c_spec c) with Some _ => true | None => false end &&
  forallb (fun '(j, _) => deps_legal T (rank_of c) (is_branch c) (are_opposite c) j) (c_deps c).

Definition certify (c : cert) : bool := legal c && check c.

Theorem check_sound c : check c = true ->
  well_formed (tables_of c) (c_spec c) /\
  realises (tables_of c) (signals_of c) (site_of c) (c_spec c) (c_code c).
Proof.
  unfold check. cbv zeta. set (T := tables_of c). repeat rewrite andb_true_iff.
  intros ((((H1 & H2) & H3) & H4) & H5). apply code_eqb_eq in H1. apply Nat.leb_le in H2, H3.
  rewrite forallb_forall in H4, H5.
  assert (HB : forall l e, c_engines c <= e -> body T l e = []).
  { intros l e' H. unfold T; simpl. destruct (Nat.ltb_spec e' (c_engines c)); auto; lia. }
  assert (HE : forall e, e <= c_engines c -> engine_ok c T e = true).
  { intros e He. apply H5, in_seq. lia. }
  clear H5. unfold engine_ok in HE.
  assert (HW : forall e, e <= c_engines c -> wfc T e [ROOT] (c_spec c)).
  { intros e He. apply HE in He. repeat rewrite andb_true_iff in He. apply wfcb_ok, He. }
  split; [split; [reflexivity|]|split; [exact H1|split]].
  - intros e. split.
    + destruct (le_lt_dec e (c_engines c)) as [L|L]; [now apply HW|].
      apply (wfc_beyond T (c_engines c)); auto; lia.
    + unfold T; simpl. destruct (Nat.ltb_spec e (c_engines c)); auto. apply direct_beyond; lia.
  - intros i w Hw. apply lookup_In, H4 in Hw. unfold signal_ok in Hw.
    repeat rewrite andb_true_iff in Hw. destruct Hw as (((A & B) & Q) & W).
    apply Nat.eqb_eq in A, B, Q. apply Nat.leb_le in W. auto.
  - intros e.
    assert (ACC : forall n, n <= c_engines c -> exists about inv A0 A1, true_at_start A0 = true /\
              chk T (signals_of c) n about inv [ROOT] (at_start A0) (c_code c) = Some A1).
    { intros n Hn. apply HE in Hn. repeat rewrite andb_true_iff in Hn.
      destruct Hn as ((_ & Z1) & Z2). set (A := nth n (c_roles c) []) in *.
      exists (about_of A), (infer T n A (c_code c)), A.
      destruct (chk _ _ _ _ _ _ _ _) as [A1|]; [|discriminate].
      exists A1. split; [exact Z1|reflexivity]. }
    destruct (le_lt_dec e (c_engines c)) as [L|L]; [now apply ACC|].
    destruct (ACC (c_engines c) (le_n _)) as (about & inv & A0 & A1 & Z1 & Z2).
    exists about, inv, A0, A1. split; auto. rewrite (chk_beyond T _ _ _ (c_engines c)) by lia.
    exact Z2.
Qed.
