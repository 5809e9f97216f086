(* Expr.v -- expressions over what an engine has counted, and their normal form

   Purpose   The checker follows code symbolically: it knows of each register which expression over
             the specification's counters it holds. [mk] builds expressions in a normal form, so
             that a threshold is recognised in the several shapes that a compiler gives it.
   Paper     sections 4.2-4.5 (equations 2-5), as an abstract domain
   C++       Sync/Expr.h (ExprPool), decode() and masked() in lib/Sync/Counting.cpp
   Trusted   nothing *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics.

(* A counter less one is a leaf of its own, and the only way to write it: what a counter register
   holds between the entry of a body and the operation that counts it. *)
Inductive expr :=
| EC (n : nat)
| ETot (l : loopid)                      (* entries so far *)
| ETotP (l : loopid)                     (* the same, minus 1 *)
| EHat (l : loopid)                      (* entries in this trip *)
| EHatP (l : loopid)                     (* the same, minus 1 *)
| EHist (s : loopid) (m : nat) (p : loopid) (* [past s m p] *)
| EBin (o : alu) (a b : expr).

(* The counters of one engine at one moment. *)
Record genv := { gtot : loopid -> nat; ghat : loopid -> nat; ghist : loopid -> nat -> loopid
    -> nat }.

Fixpoint den (x : expr) (g : genv) : nat :=
  match x with
  | EC n => n
  | ETot l => gtot g l
  | ETotP l => gtot g l - 1
  | EHat l => ghat g l
  | EHatP l => ghat g l - 1
  | EHist s m p => ghist g s m p
  | EBin o a b => alu_nat o (den a g) (den b g)
  end.

(** * Equality and membership as booleans *)

Definition alu_eqb (a b : alu) : bool :=
  match a, b with
  | AMove, AMove | AAdd, AAdd | ASub, ASub | AMul, AMul | AMin, AMin | AGt, AGt => true
  | _, _ => false
  end.

Fixpoint expr_eqb (a b : expr) : bool :=
  match a, b with
  | EC n, EC m => n =? m
  | ETot l, ETot m | ETotP l, ETotP m | EHat l, EHat m | EHatP l, EHatP m => l =? m
  | EHist s m p, EHist s' m' p' => (s =? s') && (m =? m') && (p =? p')
  | EBin o x y, EBin o' x' y' => alu_eqb o o' && expr_eqb x x' && expr_eqb y y'
  | _, _ => false
  end.

Lemma alu_eqb_eq a b : alu_eqb a b = true <-> a = b.
Proof. destruct a, b; simpl; split; congruence. Qed.

Lemma expr_eqb_eq a b : expr_eqb a b = true <-> a = b.
Proof.
  split.
  - revert b. induction a; destruct b; simpl; try discriminate; intros H;
      repeat rewrite andb_true_iff in H; repeat rewrite Nat.eqb_eq in H;
      repeat match goal with [ X : _ /\ _ |- _ ] => destruct X end; try congruence.
    apply alu_eqb_eq in H. f_equal; auto.
  - intros <-. induction a; simpl; rewrite ?Nat.eqb_refl; auto.
    rewrite IHa1, IHa2. destruct o; reflexivity.
Qed.

Definition inb (l : nat) (xs : list nat) := existsb (Nat.eqb l) xs.

Lemma inb_In l xs : inb l xs = true <-> In l xs.
Proof.
  unfold inb. rewrite existsb_exists. split.
  - intros (x & H & E). apply Nat.eqb_eq in E. now subst.
  - intros. exists l. split; auto. apply Nat.eqb_refl.
Qed.

Lemma inb_not_In l xs : inb l xs = false <-> ~ In l xs.
Proof. rewrite <- inb_In. destruct (inb l xs); intuition congruence. Qed.

(** * Normal form

   Constants stand on the right of sums and differences and on the left of products; constants of
   nested sums, differences and products are merged; a difference under its own guard,
   gt(a,b)*(a-b), is the difference (which is what makes the form that is safe on a wrapping machine
   equal to the plain one), and so it is with n*a - m where n*b <= m; masks are gathered left of
   what they mask; under a mask gt(h,n), (q + h) - n is q + (h - n). A threshold that a loop steps,
   (n*a - n*(b+1)) + n*gt(a,b), is n*a - n*b; a - min(a,n), which never goes below zero, is
   a - n. *)

(* Counters of bodies that the position is inside of are at least 1. *)
Definition positive (act : list loopid) (g : genv) :=
  forall l, In l act -> 1 <= gtot g l /\ 1 <= ghat g l.

Definition env_ok (act : list loopid) (g : genv) :=
  gtot g ROOT = 1 /\ ghat g ROOT = 1 /\ positive act g.

(* A number that the expression is not below. *)
Fixpoint lowest (act : list loopid) (x : expr) : nat :=
  match x with
  | EC n => n
  | ETot l | EHat l => if inb l act then 1 else 0
  | EBin AMul (EC n) y => n * lowest act y
  | _ => 0
  end.

Fixpoint add_const (act : list loopid) (a : expr) (n : nat) : expr :=
  match n with
  | 0 => a
  | S m =>
    match a with
    | EBin AAdd x (EC k) => EBin AAdd x (EC (k + n))
    | EBin ASub x (EC k) =>
        if negb (k <=? lowest act x) then EBin AAdd a (EC n)
        else if n <? k then EBin ASub x (EC (k - n))
        else if n =? k then x else EBin AAdd x (EC (n - k))
    | ETotP l => if inb l act then add_const act (ETot l) m else EBin AAdd a (EC n)
    | EHatP l => if inb l act then add_const act (EHat l) m else EBin AAdd a (EC n)
    | _ => EBin AAdd a (EC n)
    end
  end.

(* x - n *)
Definition less (x : expr) (n : nat) : expr :=
  match n, x with
  | 1, ETot l => ETotP l
  | 1, EHat l => EHatP l
  | _, _ => EBin ASub x (EC n)
  end.

Definition sub_const (act : list loopid) (a : expr) (n : nat) : expr :=
  if n =? 0 then a else
  match a with
  | ETotP l => EBin ASub (ETot l) (EC (S n))
  | EHatP l => EBin ASub (EHat l) (EC (S n))
  | EBin ASub x (EC k) => EBin ASub x (EC (k + n))
  | EBin AAdd x (EC k) => if n <=? k then add_const act x (k - n) else less x (n - k)
  | _ => less a n
  end.

Fixpoint scale (n : nat) (a : expr) : expr :=
  if n =? 0 then EC 0 else if n =? 1 then a else
  match a with
  | ETotP l => EBin ASub (EBin AMul (EC n) (ETot l)) (EC n)
  | EHatP l => EBin ASub (EBin AMul (EC n) (EHat l)) (EC n)
  | EBin ASub x (EC k) => EBin ASub (scale n x) (EC (n * k))
  | EBin AAdd x (EC k) => EBin AAdd (scale n x) (EC (n * k))
  | EBin AMul (EC k) x => EBin AMul (EC (n * k)) x
  | _ => EBin AMul (EC n) a
  end.

Definition gt_const (act : list loopid) (a : expr) (n : nat) : expr :=
  match a with
  | ETotP l => EBin AGt (ETot l) (EC (S n))
  | EHatP l => EBin AGt (EHat l) (EC (S n))
  | EBin ASub x (EC k) => EBin AGt x (EC (k + n))
  | EBin AAdd x (EC k) => if n <? k then EC 1 else EBin AGt x (EC (n - k))
  | ETot l | EHat l => if (n =? 0) && inb l act then EC 1 else EBin AGt a (EC n)
  | _ => EBin AGt a (EC n)
  end.

(* What a constant is taken from, and the constant. *)
Definition difference_of (b : expr) : option (expr * nat) :=
  match b with
  | ETotP l => Some (ETot l, 1)
  | EHatP l => Some (EHat l, 1)
  | EBin ASub x (EC m) => Some (x, m)
  | _ => None
  end.

(* y is n * u *)
Definition factor_of (u y : expr) : option nat :=
  if expr_eqb u y then Some 1 else
  match y with EBin AMul (EC n) x => if expr_eqb u x then Some n else None | _ => None end.

(* gt(u,v) and u-v; gt(u,k) and n*u - m where it is 0 anyway; gt(u,0) and u *)
Definition guards (a b : expr) : bool :=
  match a with
  | EBin AGt u v =>
      match b with EBin ASub x y => expr_eqb u x && expr_eqb v y | _ => false end ||
      match v, difference_of b with
      | EC k, Some (y, m) => match factor_of u y with Some n => n * k <=? m | None => false end
      | _, _ => false
      end ||
      match v with EC 0 => expr_eqb u b | _ => false end
  | _ => false
  end.

Fixpoint is_mask (a : expr) : bool :=
  match a with EBin AGt _ _ => true | EBin AMul x y => is_mask x && is_mask y | _ => false end.

Definition mk_sub (act : list loopid) (a b : expr) : expr :=
  match b with
  | EC n => sub_const act a n
  | EBin ASub x y => if expr_eqb a x then EBin AMin x y else EBin ASub a b (* x - (x - y) *)
  | EBin AMin x (EC n) => if expr_eqb a x then sub_const act a n else EBin ASub a b
  | _ => EBin ASub a b
  end.

(* Where h > d: (q + h) - n with n <= d, regrouped. *)
Definition regroup (h : expr) (d : nat) (o : alu) (a b : expr) : option expr :=
  match o, a, b with
  | ASub, EBin AAdd q y, EC n =>
      if expr_eqb y h && (n <=? d) then Some (EBin AAdd q (less y n)) else None
  | _, _, _ => None
  end.

Fixpoint regrouped (h : expr) (d : nat) (x : expr) : expr :=
  match x with
  | EBin o a b =>
      match regroup h d o a b with
      | Some y => y
      | None => EBin o (regrouped h d a) (regrouped h d b)
      end
  | _ => x
  end.

(* x where the mask m is 1 *)
Fixpoint under_mask (m x : expr) : expr :=
  match m with
  | EBin AGt h (EC d) => regrouped h d x
  | EBin AMul a b => under_mask a (under_mask b x)
  | _ => x
  end.

Definition mk_masked (m x : expr) : expr :=
  match x with
  | EBin AMul m' y => if is_mask m' then EBin AMul (EBin AMul m m') (under_mask m y)
                      else EBin AMul m (under_mask m x)
  | _ => EBin AMul m (under_mask m x)
  end.

Definition mk_mul (a b : expr) : expr :=
  match a, b with
  | EC n, _ => scale n b
  | _, EC n => scale n a
  | _, _ => if guards a b then b else if guards b a then a
            else if is_mask a then if is_mask b then EBin AMul a b else mk_masked a b
            else if is_mask b then mk_masked b a else EBin AMul a b
  end.

(* A bump and its factor. *)
Definition bump_of (b : expr) : option (nat * expr * nat) :=
  match b with
  | EBin AGt x (EC j) => Some (1, x, j)
  | EBin AMul (EC n) (EBin AGt x (EC j)) => Some (n, x, j)
  | _ => None
  end.

(* (n*x - n*(j+1)) + n*gt(x,j) *)
Definition stepped (a b : expr) : option expr :=
  match difference_of a, bump_of b with
  | Some (y, c), Some (n, x, j) =>
      if expr_eqb y (scale n x) && (c =? n * S j)
      then Some (if n * j =? 0 then y else less y (n * j)) else None
  | _, _ => None
  end.

Definition add_terms (act : list loopid) (a b : expr) : expr :=
  match a, b with
  | EC n, _ => add_const act b n
  | _, EC n => add_const act a n
  | _, EBin AAdd x (EC n) => add_const act (EBin AAdd a x) n
  | EBin AAdd x (EC n), _ => add_const act (EBin AAdd x b) n
  | _, _ => EBin AAdd a b
  end.

Definition mk_add (act : list loopid) (a b : expr) : expr :=
  match stepped a b with Some y => y | None => add_terms act a b end.

Definition mk (act : list loopid) (op : alu) (a b : expr) : expr :=
  match op, a, b with
  | AMove, _, _ => a
  | _, EC x, EC y => EC (alu_nat op x y)
  | AAdd, _, _ => mk_add act a b
  | ASub, _, _ => mk_sub act a b
  | AMul, _, _ => mk_mul a b
  | AMin, _, _ => EBin AMin a b
  | AGt, _, EC n => gt_const act a n
  | AGt, _, _ => EBin AGt a b
  end.

(** * The normal form has the value of what it stands for *)

Section Value.
  Variables (act : list loopid) (g : genv).
  Hypothesis HP : positive act g.

  Lemma active_counters_positive l : inb l act = true -> 1 <= gtot g l /\ 1 <= ghat g l.
  Proof. intros. apply HP. now apply inb_In. Qed.

  Lemma lowest_ok x : lowest act x <= den x g.
  Proof.
    induction x as [| l| | l | | |o x IHx y IHy]; cbn [lowest den]; try lia.
    - destruct (inb l act) eqn:I; [|lia]. now apply active_counters_positive in I.
    - destruct (inb l act) eqn:I; [|lia]. now apply active_counters_positive in I.
    - destruct o; try lia. destruct x; try lia. cbn [alu_nat den] in *. nia.
  Qed.

  Lemma add_const_ok n : forall a, den (add_const act a n) g = den a g + n.
  Proof.
    induction n; intros a; [simpl; lia|]. cbn [add_const].
    destruct a as [| | l | | l | |o x y]; try reflexivity.
    - destruct (inb l act) eqn:I; [|reflexivity].
      apply active_counters_positive in I. rewrite IHn. simpl. lia.
    - destruct (inb l act) eqn:I; [|reflexivity].
      apply active_counters_positive in I. rewrite IHn. simpl. lia.
    - destruct o; try reflexivity; destruct y; try reflexivity.
      + simpl. lia.
      + pose proof (lowest_ok x) as L. destruct (Nat.leb_spec n0 (lowest act x)); [|reflexivity].
        cbn [negb]. destruct (Nat.ltb_spec (S n) n0); [cbn [den alu_nat]; lia|].
        destruct (Nat.eqb_spec (S n) n0); cbn [den alu_nat]; lia.
  Qed.

  Lemma less_ok x n : den (less x n) g = den x g - n.
  Proof. destruct n as [|[|n]]; destruct x; reflexivity. Qed.

  Lemma sub_const_ok a n : den (sub_const act a n) g = den a g - n.
  Proof.
    unfold sub_const. destruct (Nat.eqb_spec n 0) as [->|]; [lia|].
    destruct a as [| | | | | |o x y]; try apply less_ok; try (cbn [den alu_nat]; lia).
    destruct o; try apply less_ok; destruct y; try apply less_ok.
    - destruct (Nat.leb_spec n n1); [rewrite add_const_ok|rewrite less_ok]; cbn [den alu_nat]; lia.
    - cbn [den alu_nat]. lia.
  Qed.

  Lemma scale_ok n a : den (scale n a) g = n * den a g.
  Proof.
    induction a as [| | | | | |o x IHx y IHy]; cbn [scale];
      (destruct (Nat.eqb_spec n 0) as [->|]; [reflexivity|]);
      (destruct (Nat.eqb_spec n 1) as [->|]; [simpl; lia|]); try reflexivity;
      try (cbn [den alu_nat]; nia).
    destruct o; try reflexivity.
    - destruct y; try reflexivity. cbn [den alu_nat] in *. rewrite IHx. lia.
    - destruct y; try reflexivity. cbn [den alu_nat] in *. rewrite IHx. nia.
    - destruct x; try reflexivity. cbn [den alu_nat]. lia.
  Qed.

  Lemma gt_alike a b n m : (m < a <-> n < b) -> alu_nat AGt a m = alu_nat AGt b n.
  Proof. cbn [alu_nat]. destruct (Nat.ltb_spec m a), (Nat.ltb_spec n b); auto; lia. Qed.

  Lemma gt_const_ok a n : den (gt_const act a n) g = alu_nat AGt (den a g) n.
  Proof.
    unfold gt_const. destruct a as [|l|l |l|l| |o x y]; try reflexivity;
      try (cbn [den]; apply gt_alike; lia).
    - destruct (Nat.eqb_spec n 0) as [->|]; [|reflexivity].
      destruct (inb l act) eqn:I; [|reflexivity].
      apply active_counters_positive in I. simpl. destruct (gtot g l); [lia|reflexivity].
    - destruct (Nat.eqb_spec n 0) as [->|]; [|reflexivity].
      destruct (inb l act) eqn:I; [|reflexivity].
      apply active_counters_positive in I. simpl. destruct (ghat g l); [lia|reflexivity].
    - destruct o; try reflexivity; destruct y; try reflexivity.
      + destruct (Nat.ltb_spec n n0); cbn [den].
        * cbn [alu_nat]. destruct (Nat.ltb_spec n (den x g + n0)); lia.
        * apply gt_alike. cbn [alu_nat den]. lia.
      + cbn [den]. apply gt_alike. cbn [alu_nat]. lia.
  Qed.

  Lemma difference_of_ok b y m : difference_of b = Some (y, m) -> den b g = den y g - m.
  Proof.
    destruct b as [| | | | | |[] x [k| | | | | |]]; try discriminate;
      intros H; injection H as <- <-; reflexivity.
  Qed.

  Lemma factor_of_ok u y n : factor_of u y = Some n -> den y g = n * den u g.
  Proof.
    unfold factor_of. destruct (expr_eqb u y) eqn:E.
    - apply expr_eqb_eq in E. subst. intros H. injection H as <-. lia.
    - destruct y as [| | | | | |[] [k| | | | | |] x]; try discriminate.
      destruct (expr_eqb u x) eqn:E'; [|discriminate]. apply expr_eqb_eq in E'. subst.
      intros H. injection H as <-. reflexivity.
  Qed.

  Lemma guards_ok a b : guards a b = true -> den a g * den b g = den b g.
  Proof.
    unfold guards. destruct a as [| | | | | |[] u v]; try discriminate.
    rewrite !orb_true_iff. intros [[H|H]|H].
    - destruct b as [| | | | | |[] x y]; try discriminate.
      apply andb_true_iff in H as [H1 H2]. apply expr_eqb_eq in H1, H2. subst. cbn [den alu_nat].
      destruct (Nat.ltb_spec (den y g) (den x g)); lia.
    - destruct v as [k| | | | | |]; try discriminate.
      destruct (difference_of b) as [[y m]|] eqn:D; [|discriminate].
      destruct (factor_of u y) as [n|] eqn:F; [|discriminate]. apply Nat.leb_le in H.
      rewrite (difference_of_ok _ _ _ D), (factor_of_ok _ _ _ F). cbn [den alu_nat].
      destruct (Nat.ltb_spec k (den u g)); [lia|]. nia.
    - destruct v as [[|]| | | | | |]; try discriminate. apply expr_eqb_eq in H. subst.
      cbn [den alu_nat]. destruct (Nat.ltb_spec 0 (den b g)); lia.
  Qed.

  Lemma regroup_ok h d o a b y : regroup h d o a b = Some y -> d < den h g ->
    den y g = alu_nat o (den a g) (den b g).
  Proof.
    unfold regroup. destruct o; try discriminate.
    destruct a as [| | | | | |[] q z]; try discriminate.
    destruct b; try discriminate. destruct (_ && _) eqn:E; [|discriminate].
    apply andb_true_iff in E as [E1 E2]. apply expr_eqb_eq in E1. apply Nat.leb_le in E2.
    intros H L. injection H as <-. subst. cbn [den alu_nat]. rewrite less_ok. lia.
  Qed.

  Lemma regrouped_ok h d x : d < den h g -> den (regrouped h d x) g = den x g.
  Proof.
    intros L. induction x as [| | | | | |o a IHa b IHb]; cbn [regrouped]; auto.
    destruct (regroup h d o a b) eqn:E.
    - now apply (regroup_ok _ _ _ _ _ _ E).
    - cbn [den]. now rewrite IHa, IHb.
  Qed.

  Lemma under_mask_ok m : forall x, den m g * den (under_mask m x) g = den m g * den x g.
  Proof.
    induction m as [| | | | | |[] a IHa b IHb]; intros x; cbn [under_mask]; auto.
    - cbn [den alu_nat]. specialize (IHa (under_mask b x)). specialize (IHb x).
      rewrite (Nat.mul_comm (den a g)), <- !Nat.mul_assoc, IHa.
      rewrite !(Nat.mul_comm (den a g)), !Nat.mul_assoc, IHb. reflexivity.
    - destruct b as [d| | | | | |]; auto. cbn [den alu_nat].
      destruct (Nat.ltb_spec d (den a g)); [now rewrite regrouped_ok|lia].
  Qed.

  Lemma mk_masked_ok m x : den (mk_masked m x) g = den m g * den x g.
  Proof.
    assert (U : den (EBin AMul m (under_mask m x)) g = den m g * den x g) by apply under_mask_ok.
    unfold mk_masked. destruct x as [| | | | | |[] a b]; auto. destruct (is_mask a); auto.
    cbn [den alu_nat]. pose proof (under_mask_ok m b) as H.
    rewrite <- Nat.mul_assoc, (Nat.mul_comm (den a g)), Nat.mul_assoc, H. lia.
  Qed.

  Lemma bump_of_ok b n x j : bump_of b = Some (n, x, j) -> den b g = n * alu_nat AGt (den x g) j.
  Proof.
    unfold bump_of. destruct b as [| | | | | |[] u v]; try discriminate.
    - destruct u as [k| | | | | |]; try discriminate.
      destruct v as [| | | | | |[] y [i| | | | | |]]; try discriminate.
      intros H. injection H as <- <- <-. reflexivity.
    - destruct v as [i| | | | | |]; try discriminate. intros H. injection H as <- <- <-.
      cbn [den]. now rewrite Nat.mul_1_l.
  Qed.

  Lemma stepped_ok a b y : stepped a b = Some y -> den y g = den a g + den b g.
  Proof.
    unfold stepped. destruct (difference_of a) as [[z c]|] eqn:D; [|discriminate].
    destruct (bump_of b) as [[[n x] j]|] eqn:U; [|discriminate].
    destruct (_ && _) eqn:E; [|discriminate]. apply andb_true_iff in E as [E1 E2].
    apply expr_eqb_eq in E1. apply Nat.eqb_eq in E2.
    rewrite (difference_of_ok _ _ _ D), (bump_of_ok _ _ _ _ U). subst z c.
    assert (V : den (scale n x) g - n * j
                = den (scale n x) g - n * S j + n * alu_nat AGt (den x g) j).
    { rewrite scale_ok. cbn [alu_nat]. destruct (Nat.ltb_spec j (den x g)); nia. }
    intros H. injection H as <-. destruct (Nat.eqb_spec (n * j) 0) as [Z|]; [|now rewrite less_ok].
    lia.
  Qed.

  Lemma add_terms_ok a b : den (add_terms act a b) g = den a g + den b g.
  Proof.
    unfold add_terms.
    repeat match goal with
    | [ |- context [match ?x with _ => _ end] ] => is_var x; destruct x
    end; rewrite ?add_const_ok; cbn [den alu_nat]; lia.
  Qed.

  Lemma mk_add_ok a b : den (mk_add act a b) g = den a g + den b g.
  Proof.
    unfold mk_add. destruct (stepped a b) eqn:S; [now apply stepped_ok|apply add_terms_ok].
  Qed.

  Lemma mk_sub_ok a b : den (mk_sub act a b) g = den a g - den b g.
  Proof.
    unfold mk_sub. destruct b as [| | | | | |o x y]; try reflexivity.
    - apply sub_const_ok.
    - destruct o; try reflexivity.
      + destruct (expr_eqb a x) eqn:E; [|reflexivity].
        apply expr_eqb_eq in E. subst. cbn [den alu_nat]. lia.
      + destruct y; try reflexivity. destruct (expr_eqb a x) eqn:E; [|reflexivity].
        apply expr_eqb_eq in E. subst. rewrite sub_const_ok. cbn [den alu_nat]. lia.
  Qed.

  Lemma mk_mul_ok a b : den (mk_mul a b) g = den a g * den b g.
  Proof.
    assert (G : den (if guards a b then b else if guards b a then a
      else if is_mask a then if is_mask b then EBin AMul a b else mk_masked a b
      else if is_mask b then mk_masked b a else EBin AMul a b) g = den a g * den b g).
    { destruct (guards a b) eqn:E1; [symmetry; now apply guards_ok|].
      destruct (guards b a) eqn:E2; [rewrite Nat.mul_comm; symmetry; now apply guards_ok|].
      destruct (is_mask a), (is_mask b); rewrite ?mk_masked_ok; cbn [den alu_nat]; lia. }
    unfold mk_mul. destruct a; destruct b; auto; rewrite scale_ok; simpl; lia.
  Qed.

  Theorem mk_value op a b : den (mk act op a b) g = alu_nat op (den a g) (den b g).
  Proof.
    unfold mk. destruct op; try reflexivity.
    - destruct a; try apply mk_add_ok. destruct b; try apply mk_add_ok. reflexivity.
    - destruct a; try apply mk_sub_ok. destruct b; try apply mk_sub_ok. reflexivity.
    - destruct a; try apply mk_mul_ok. destruct b; try apply mk_mul_ok. reflexivity.
    - destruct a; try reflexivity. destruct b; reflexivity.
    - destruct a; destruct b; try reflexivity; apply gt_const_ok.
  Qed.
End Value.

Corollary mk_ok act g op a b : env_ok act g ->
  den (mk act op a b) g = alu_nat op (den a g) (den b g).
Proof. intros (_ & _ & P). now apply mk_value. Qed.

(** * Counters of one engine as an environment *)

Definition genv_of (c : counts) (h : loopid -> nat) : genv :=
  {| gtot := tot c; ghat := h; ghist := past c |}.
