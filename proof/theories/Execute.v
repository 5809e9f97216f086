(* Execute.v -- both systems as functions, to be run

   Purpose   Semantics.v and Words.v say by relations what may happen. Here the same steps are
             computed: given a state and what is to be done next, the next state, if there is one.
             Proved to be exactly the steps of the systems. Extracted, they replay runs, and tests
             compare what they say with the transition systems of the compiler's own checks.
   Paper     sections 6.1 and 6.2, appendix A.1-A.5
   C++       Check/Spec.h, Check/Impl.h; unittests/Certify/ReplayTest.cpp compares
   Trusted   nothing *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics Words.

(* What is done next. The n-th oldest in flight takes effect; the oldest retires. *)
Inductive action :=
| Control (e : engine)
| Operate (e : engine) (* the first item of the block *)
| Commit (q : queue) (n : nat)
| Retire (q : queue).

(** * Control steps *)

Section Control.
  Variable C : Type.
  Variable guard : engine -> loopid -> C -> bool.
  Variable ctl : engine -> loopid -> C -> C.
  Variable A : Type.

  (* Position, control state, and the body that is entered. *)
  Definition walked : Type := pos A * C * option loopid.

  Definition reach_end (e : engine) (k : kont A) (c : C) : option walked :=
    match k with
    | KStop => None
    | KLoop l n b r k =>
        let c' := ctl e l c in
        if guard e l c' then Some (mkpos [] b (KLoop l (S n) b r k), c', Some l)
        else Some (mkpos [] r k, c', None)
    | KCond l r k => Some (mkpos [] r k, ctl e l c, None)
    end.

  Definition reach (e : engine) (x : code A) (k : kont A) (c : C) : option walked :=
    match x with
    | CNil => reach_end e k c
    | CBlock f r => Some (mkpos (nth e f []) r k, c, None)
    | CLoop l b r =>
        if guard e l c then Some (mkpos [] b (KLoop l 1 b r k), c, Some l)
        else Some (mkpos [] r k, c, None)
    | CCond lt lf bt bf r =>
        if guard e lt c then Some (mkpos [] bt (KCond lt r k), c, Some lt)
        else Some (mkpos [] bf (KCond lf r k), c, Some lf)
    end.

  Definition control (e : engine) (p : pos A) (c : C) : option walked :=
    match cur p with [] => reach e (cod p) (kon p) c | _ :: _ => None end.

  Lemma control_is_cstep e p c p' c' ev :
    cstep guard ctl e p c p' c' ev <-> control e p c = Some (p', c', ev).
  Proof.
    split.
    - destruct 1; cbn [control cur cod kon reach reach_end]; auto;
        match goal with [ H : guard _ _ _ = _ |- _ ] => now rewrite H end.
    - destruct p as [cu x k]. unfold control. cbn [cur cod kon]. destruct cu; [|discriminate].
      destruct x as [|f r|l b r|lt lf bt bf r]; cbn [reach].
      + destruct k as [|l n b r k|l r k]; cbn [reach_end]; [discriminate| |].
        * destruct (guard e l (ctl e l c)) eqn:G; intros H; injection H as <- <- <-;
            constructor; auto.
        * intros H. injection H as <- <- <-. constructor.
      + intros H. injection H as <- <- <-. constructor.
      + destruct (guard e l c) eqn:G; intros H; injection H as <- <- <-; constructor; auto.
      + destruct (guard e lt c) eqn:G; intros H; injection H as <- <- <-; constructor; auto.
  Qed.
End Control.
Arguments control {C} guard ctl {A}.

(** * Conditions *)

Definition unowedb (h : loopid -> nat) (c : counts) (p : loopid) (x : distance) : bool :=
  match x with
  | Carried s k => h s <=? k
  | Flat f => tot c p <=? f
  | Element s k b back ahead => (h s <=? k) || (h b + ahead <=? back)
  end.

(* How many retirements of the producer a consumer has to wait for. *)
Definition owed (h : loopid -> nat) (c : counts) (p : loopid) (x : distance) : nat :=
  if unowedb h c p x then 0 else needed h c p x.

Lemma unowedb_unowed h c p x : unowedb h c p x = true <-> unowed h c p x.
Proof. destruct x; simpl; rewrite ?orb_true_iff, ?Nat.leb_le; reflexivity. Qed.

Lemma owed_is_satisfied T h c rc d :
  satisfied T h c rc d <-> owed h c (home T (prd d)) (dist d) <= rc (prd d).
Proof.
  unfold satisfied, owed. rewrite <- unowedb_unowed.
  destruct (unowedb h c (home T (prd d)) (dist d)); intuition (congruence || lia).
Qed.

(** * Steps *)

Section Systems.
  Variables D C : Type.
  Variable iop : instr -> D -> D.
  Variable guard : engine -> loopid -> C -> bool.
  Variable ctl : engine -> loopid -> C -> C.
  Variable T : tables.
  Notation sstate := (sstate D C).
  Notation istate := (istate D C).

  Definition satb (s : sstate) (e : engine) (d : dep) : bool :=
    owed (trips (kon (spos s e))) (scnt s e) (home T (prd d)) (dist d) <=? src s (prd d).

  Lemma satb_sat s e d : satb s e d = true <-> sat T s e d.
  Proof. unfold satb, sat. now rewrite Nat.leb_le, owed_is_satisfied. Qed.

  Definition is_ready (s : sstate) (e : engine) (i : instr) : bool := forallb (satb s e) (deps T i).

  Lemma is_ready_sat s e i : is_ready s e i = true <-> (forall d, In d (deps T i) -> sat T s e d).
  Proof.
    unfold is_ready. rewrite forallb_forall.
    split; intros H d Hd; now apply satb_sat, H.
  Qed.

  Definition spec_does (s : sstate) (a : action) : option (list event * sstate) :=
    match a with
    | Control e =>
        match control guard ctl e (spos s e) (scs s e) with
        | Some (p, c, ev) => Some ([], mks (sds s) (upd (scs s) e c) (upd (spos s) e p) (sifl s)
                                       (upd (scnt s) e (count_event (kon p) ev (scnt s e))) (src s))
        | None => None
        end
    | Operate e =>
        match spos s e with
        | mkpos (i :: cu) c k =>
            if is_ready s e i
            then Some ([Issued i], mks (sds s) (scs s) (upd (spos s) e (mkpos cu c k))
                   (upd (sifl s) (que T i) (sifl s (que T i) ++ [(i, false)])) (scnt s) (src s))
            else None
        | mkpos [] _ _ => None
        end
    | Commit q n =>
        match mark (sifl s q) n with
        | Some (i, x) => Some ([Committed i], mks (iop i (sds s)) (scs s) (spos s)
                                                  (upd (sifl s) q x) (scnt s) (src s))
        | None => None
        end
    | Retire q =>
        match sifl s q with
        | (i, true) :: x => Some ([Retired i], mks (sds s) (scs s) (spos s) (upd (sifl s) q x)
                                                   (scnt s) (upd (src s) i (src s i + 1)))
        | _ => None
        end
    end.

  Theorem spec_does_what_it_may s a s' :
    sstep iop guard ctl T s a s' <-> exists x, spec_does s x = Some (a, s').
  Proof.
    split.
    - intros St. destruct St as [s e i cu c k Hp Hs|s q n i x Hm|s q i x Hq|s e p c ev Hc].
      + exists (Operate e). cbn [spec_does]. rewrite Hp. apply is_ready_sat in Hs. now rewrite Hs.
      + exists (Commit q n). cbn [spec_does]. now rewrite Hm.
      + exists (Retire q). cbn [spec_does]. now rewrite Hq.
      + exists (Control e). cbn [spec_does]. apply control_is_cstep in Hc. now rewrite Hc.
    - intros [[e|e|q n|q] H]; cbn [spec_does] in H.
      + destruct (control guard ctl e (spos s e) (scs s e)) as [[[p c] ev]|] eqn:K; [|discriminate].
        injection H as <- <-. apply s_ctl. now apply control_is_cstep.
      + destruct (spos s e) as [[|i cu] c k] eqn:Hp; [discriminate|].
        destruct (is_ready s e i) eqn:R; [|discriminate]. injection H as <- <-.
        apply s_issue; auto. now apply is_ready_sat.
      + destruct (mark (sifl s q) n) as [[i x]|] eqn:Hm; [|discriminate]. injection H as <- <-.
        now apply s_commit with (n := n).
      + destruct (sifl s q) as [|[i []] x] eqn:Hq; try discriminate. injection H as <- <-.
        now apply s_retire.
  Qed.

  (** ** Code, on a machine whose numbers wrap around at M; for M = 0 they have no bound *)

  Variable signals : instr -> option sema.
  Variable M : nat.

  Definition passesb (s : istate) (e : engine) (w : wait) : bool :=
    word_value M (snd w) (iregs s e) <=? isem s (fst w).

  Definition wait_passes (s : istate) (e : engine) (w : option wait) : bool :=
    match w with Some w => passesb s e w | None => true end.

  (* The state after the first item of the block. *)
  Definition operate (s : istate) (e : engine) (x : item) (p : pos item)
    : option (list event * istate) :=
    match x with
    | RegOp o => Some ([], mki (ids s) (ics s) (upd (ipos s) e p) (iifl s) (isem s)
                               (upd (iregs s) e (word_exec M o (iregs s e))))
    | Wait w =>
        if passesb s e w
        then Some ([], mki (ids s) (ics s) (upd (ipos s) e p) (iifl s) (isem s) (iregs s))
        else None
    | Issue i w =>
        if wait_passes s e w
        then Some ([Issued i], mki (ids s) (ics s) (upd (ipos s) e p)
               (upd (iifl s) (que T i) (iifl s (que T i) ++ [(i, false)])) (isem s) (iregs s))
        else None
    end.

  Definition code_does (s : istate) (a : action) : option (list event * istate) :=
    match a with
    | Control e =>
        match control guard ctl e (ipos s e) (ics s e) with
        | Some (p, c, ev) => Some ([], mki (ids s) (upd (ics s) e c) (upd (ipos s) e p) (iifl s)
                                           (isem s) (iregs s))
        | None => None
        end
    | Operate e =>
        match ipos s e with
        | mkpos (x :: cu) c k => operate s e x (mkpos cu c k)
        | mkpos [] _ _ => None
        end
    | Commit q n =>
        match mark (iifl s q) n with
        | Some (i, x) => Some ([Committed i], mki (iop i (ids s)) (ics s) (ipos s)
                                                  (upd (iifl s) q x) (isem s) (iregs s))
        | None => None
        end
    | Retire q =>
        match iifl s q with
        | (i, true) :: x => Some ([Retired i], mki (ids s) (ics s) (ipos s) (upd (iifl s) q x)
                                                   (word_raise M T signals (isem s) i) (iregs s))
        | _ => None
        end
    end.

  Theorem code_does_what_it_may s a s' :
    wstep M iop guard ctl T signals s a s' <-> exists x, code_does s x = Some (a, s').
  Proof.
    split.
    - intros St. destruct St as [s e o cu c k Hp|s e w cu c k Hp Hw|s e i w cu c k Hp Hw
                                |s q n i x Hm|s q i x Hq|s e p c ev Hc].
      + exists (Operate e). cbn [code_does]. now rewrite Hp.
      + exists (Operate e). cbn [code_does]. rewrite Hp. cbn [operate]. unfold passesb.
        apply Nat.leb_le in Hw. now rewrite Hw.
      + exists (Operate e). cbn [code_does]. rewrite Hp. cbn [operate].
        replace (wait_passes s e w) with true; auto. destruct w as [w|]; auto. symmetry.
        now apply Nat.leb_le, Hw.
      + exists (Commit q n). cbn [code_does]. now rewrite Hm.
      + exists (Retire q). cbn [code_does]. now rewrite Hq.
      + exists (Control e). cbn [code_does]. apply control_is_cstep in Hc. now rewrite Hc.
    - intros [[e|e|q n|q] H]; cbn [code_does] in H.
      + destruct (control guard ctl e (ipos s e) (ics s e)) as [[[p c] ev]|] eqn:K; [|discriminate].
        injection H as <- <-. eapply w_ctl. apply control_is_cstep. exact K.
      + destruct (ipos s e) as [[|[i w|o|w] cu] c k] eqn:Hp; [discriminate| | |];
          cbn [operate] in H.
        * destruct (wait_passes s e w) eqn:P; [|discriminate]. injection H as <- <-.
          eapply w_issue; [exact Hp|]. intros x ->. now apply Nat.leb_le.
        * injection H as <- <-. now apply w_regop.
        * destruct (passesb s e w) eqn:P; [|discriminate]. injection H as <- <-.
          eapply w_wait; [exact Hp|]. now apply Nat.leb_le.
      + destruct (mark (iifl s q) n) as [[i x]|] eqn:Hm; [|discriminate]. injection H as <- <-.
        now apply w_commit with (n := n).
      + destruct (iifl s q) as [|[i []] x] eqn:Hq; try discriminate. injection H as <- <-.
        now apply w_retire.
  Qed.
End Systems.
Arguments spec_does {D C}.
Arguments code_does {D C}.
Arguments is_ready {D C}.
Arguments wait_passes {D C}.
