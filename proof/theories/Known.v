(* Known.v -- what is known of registers, kept so that a loop touches only its own

   Purpose   A program may keep many counters, and each loop changes a few. Notes about registers
             are dated, and so is the last change of each body's counters: a note is current while
             nothing that it speaks about has changed since. To enter a body, or to go through a
             whole loop, is then to write one date for each body that is entered, and new notes for
             the registers that are touched; all others are left alone, and stay what they are (the
             frame). Nothing is ever searched, so that code with n counters takes n steps, not n^2.
   Paper     -
   C++       -
   Trusted   nothing *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.
From Tally Require Import Syntax Maps Expr.

Section Known.
  Variable V : Type.
  Variable parts : V -> list loopid. (* the bodies that a note speaks about *)

  Record known := mkknown {
    now : nat;
    notes : tree (list (nat * V)); (* of a register, with their dates *)
    changed : tree nat;            (* of a body: when its counters changed last *)
    tellers : tree (list reg) }.   (* of a body: registers worth asking about it; only a hint *)

  Definition nothing : known := mkknown 0 Leaf Leaf Leaf.

  Definition current (K : known) (f : nat * V) : bool :=
    forallb (fun l => get_or 0 (changed K) l <=? fst f) (parts (snd f)).

  (* What is known of register r. *)
  Definition reads (K : known) (r : reg) : list V :=
    map snd (filter (current K) (get_or [] (notes K) r)).

  (* Register r was written, and this is known of it. *)
  Definition write (K : known) (r : reg) (vs : list V) : known :=
    mkknown (now K) (set r (map (pair (now K)) vs) (notes K)) (changed K) (tellers K).

  (* The counters of bodies ls have changed, and new is known of registers rs. *)
  Definition renew (K : known) (ls : list loopid) (rs : list reg) (new : reg -> list V) : known :=
    let t := S (now K) in
    mkknown t (fold_left (fun n r => set r (map (pair t) (new r)) n) rs (notes K))
      (fold_left (fun c l => set l t c) ls (changed K)) (tellers K).

  Definition name_teller (K : known) (l : loopid) (r : option reg) : known :=
    match r with
    | Some r =>
        mkknown (now K) (notes K) (changed K) (set l (r :: get_or [] (tellers K) l) (tellers K))
    | None => K
    end.

  (* No note is from the future. *)
  Definition stamped (K : known) : Prop :=
    forall r t x, In (t, x) (get_or [] (notes K) r) -> t <= now K.

  (* A note says nothing about these bodies. *)
  Definition apart (x : V) (ls : list loopid) : Prop := forall l, In l (parts x) -> ~ In l ls.

  Lemma reads_In K r x : In x (reads K r) <->
    exists t, In (t, x) (get_or [] (notes K) r) /\ current K (t, x) = true.
  Proof.
    unfold reads. rewrite in_map_iff. split.
    - intros ([t y] & <- & H). apply filter_In in H. eauto.
    - intros (t & H). exists (t, x). now rewrite filter_In.
  Qed.

  Lemma nothing_stamped : stamped nothing.
  Proof. intros r t x []. Qed.

  Lemma nothing_read r : reads nothing r = [].
  Proof. reflexivity. Qed.

  (** * Writing a register *)

  Lemma get_or_set {B} (d : B) n b t k :
    get_or d (set n b t) k = if k =? n then b else get_or d t k.
  Proof. unfold get_or. rewrite get_set. now destruct (k =? n). Qed.

  Lemma write_stamped K r vs : stamped K -> stamped (write K r vs).
  Proof.
    intros S q t x. cbn [write notes now]. rewrite get_or_set. destruct (q =? r); [|apply S].
    intros H. apply in_map_iff in H as (y & H & _). injection H as <- _. auto.
  Qed.

  Lemma write_reads K r vs q x : In x (reads (write K r vs) q) ->
    q = r /\ In x vs \/ q <> r /\ In x (reads K q).
  Proof.
    rewrite !reads_In. intros (t & H & C). cbn [write notes] in H. rewrite get_or_set in H.
    destruct (Nat.eqb_spec q r) as [->|N].
    - left. split; auto. apply in_map_iff in H as (y & H & Hy). now injection H as _ <-.
    - right. split; auto. exists t. auto.
  Qed.

  Lemma write_frame K r vs q : q <> r -> reads (write K r vs) q = reads K q.
  Proof.
    intros N. unfold reads. cbn [write notes]. rewrite get_or_set.
    now destruct (Nat.eqb_spec q r).
  Qed.

  (** * Changing bodies *)

  Lemma renewed_notes (t : nat) (new : reg -> list V) rs r : forall n,
    get_or [] (fold_left (fun n r => set r (map (pair t) (new r)) n) rs n) r =
    if inb r rs then map (pair t) (new r) else get_or [] n r.
  Proof.
    induction rs as [|q rs IH]; intros n; auto. cbn [fold_left]. rewrite IH, get_or_set.
    unfold inb. cbn [existsb]. fold (inb r rs). destruct (inb r rs).
    - now rewrite orb_true_r.
    - destruct (Nat.eqb_spec r q) as [->|]; auto.
  Qed.

  Lemma renewed_changes t ls l : forall c,
    get_or 0 (fold_left (fun c l => set l t c) ls c) l = if inb l ls then t else get_or 0 c l.
  Proof.
    induction ls as [|m ls IH]; intros c; auto. cbn [fold_left]. rewrite IH, get_or_set.
    unfold inb. cbn [existsb]. fold (inb l ls). destruct (inb l ls).
    - now rewrite orb_true_r.
    - destruct (Nat.eqb_spec l m); auto.
  Qed.

  Lemma renew_stamped K ls rs new : stamped K -> stamped (renew K ls rs new).
  Proof.
    intros St r t x. unfold renew. cbn [notes now]. rewrite renewed_notes. destruct (inb r rs).
    - intros H. apply in_map_iff in H as (y & H & _). injection H as <- _. auto.
    - intros H. apply St in H. lia.
  Qed.

  Lemma renew_reads K ls rs new r x : stamped K -> In x (reads (renew K ls rs new) r) ->
    In r rs /\ In x (new r) \/ ~ In r rs /\ In x (reads K r) /\ apart x ls.
  Proof.
    intros St. rewrite !reads_In. intros (t & H & C). unfold renew in H, C. cbn [notes] in H.
    rewrite renewed_notes in H. destruct (inb r rs) eqn:I.
    - left. split; [now apply inb_In|]. apply in_map_iff in H as (y & H & Hy).
      now injection H as _ <-.
    - right. split; [now apply inb_not_In|]. pose proof (St _ _ _ H) as L.
      unfold current in C. rewrite forallb_forall in C. cbn [fst snd changed] in C. split.
      + exists t. split; auto. apply forallb_forall. intros l Hl. specialize (C l Hl).
        rewrite renewed_changes in C. destruct (inb l ls); auto.
        apply Nat.leb_le in C. cbn [fst] in *. lia.
      + intros l Hl J. apply inb_In in J. specialize (C l Hl). rewrite renewed_changes, J in C.
        apply Nat.leb_le in C. lia.
  Qed.

  (* What the change does not touch stays known. *)
  Lemma renew_frame K ls rs new r x : ~ In r rs -> apart x ls -> In x (reads K r) ->
    In x (reads (renew K ls rs new) r).
  Proof.
    intros N P. rewrite !reads_In. intros (t & H & C). exists t. unfold renew, current in *.
    cbn [notes changed fst snd] in *. rewrite renewed_notes. apply inb_not_In in N. rewrite N.
    split; auto. rewrite forallb_forall in *. intros l Hl. rewrite renewed_changes.
    specialize (P l Hl). apply inb_not_In in P. rewrite P. auto.
  Qed.

  Lemma renew_ext K ls rs f h : (forall r, f r = h r) -> renew K ls rs f = renew K ls rs h.
  Proof.
    intros E. unfold renew. f_equal. generalize (notes K).
    induction rs as [|r rs IH]; intros n; auto. cbn [fold_left]. now rewrite E, IH.
  Qed.

  Lemma teller_reads K l r : reads (name_teller K l r) = reads K.
  Proof. destruct r; reflexivity. Qed.

  Lemma teller_stamped K l r : stamped K -> stamped (name_teller K l r).
  Proof. destruct r; auto. Qed.
End Known.

Arguments mkknown {V}.
Arguments now {V}.
Arguments notes {V}.
Arguments changed {V}.
Arguments tellers {V}.
Arguments nothing {V}.
Arguments current {V}.
Arguments reads {V}.
Arguments write {V}.
Arguments renew {V}.
Arguments name_teller {V}.
Arguments stamped {V}.
Arguments apart {V}.

(** * What a loop touches *)

Section Touched.
  Variable e : engine.

  Definition operand_registers (o : operand) : list reg :=
    match o with OReg r => [r] | OImm _ => [] end.

  Definition item_registers (x : item) : list reg :=
    match x with
    | RegOp o => dst o :: operand_registers (opa o) ++ operand_registers (opb o)
    | Wait w | Issue _ (Some w) => operand_registers (snd w)
    | Issue _ None => []
    end.

  (* The registers that the engine's code speaks about; here with repetitions. *)
  Fixpoint mentions (c : code item) : list reg :=
    match c with
    | CNil => []
    | CBlock f r => flat_map item_registers (nth e f []) ++ mentions r
    | CLoop _ b r => mentions b ++ mentions r
    | CCond _ _ bt bf r => mentions bt ++ mentions bf ++ mentions r
    end.

  (* The bodies in it. *)
  Fixpoint inner (c : code item) : list loopid :=
    match c with
    | CNil => []
    | CBlock _ r => inner r
    | CLoop l b r => l :: inner b ++ inner r
    | CCond lt lf bt bf r => lt :: lf :: inner bt ++ inner bf ++ inner r
    end.

  (* Registers that say something about a body, though its code may not mention them. *)
  Variable about : tree (list reg).

  Definition concerns (c : code item) : list reg :=
    mentions c ++ flat_map (get_or [] about) (inner c).

  Definition touched (c : code item) : list reg := without_twins Leaf (concerns c).

  Lemma touched_In c r : In r (touched c) <-> In r (concerns c).
  Proof. apply without_twins_In. Qed.
End Touched.

(** * Proposals for loop heads: of a loop, of a register *)

Definition guess (V : Type) := tree (tree (list V)).

Definition at_head {V} (G : guess V) (l : loopid) (r : reg) : list V :=
  get_or [] (get_or Leaf G l) r.

Definition tabulate {V} (rs : list reg) (f : reg -> list V) : tree (list V) :=
  fold_left (fun t r => match f r with [] => t | xs => set r xs t end) rs Leaf.

Fixpoint guess_size {V} (G : guess V) : nat :=
  let fix notes_in (t : tree (list V)) : nat :=
    match t with
    | Leaf => 0
    | Node _ h a b => match h with Some xs => length xs | None => 0 end + notes_in a + notes_in b
    end in
  match G with
  | Leaf => 0
  | Node _ h a b => match h with Some t => notes_in t | None => 0 end + guess_size a + guess_size b
  end.
