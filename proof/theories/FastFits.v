(* FastFits.v -- whether numbers fit, for kernels of real size

   Purpose   [code_fits] with the tables of FastChecker.v; proved to be the same function.
   Paper     -
   C++       what runs in tally-certify, for machines that wrap around
   Trusted   nothing *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics Maps Expr Checker Bisimulation Legality Certificate.
From Tally Require Import FastChecker Fits.

Section Same.
  Variables F T : tables.
  Hypothesis ST : same_tables F T.
  Variables (M : nat) (B : loopid -> nat) (e : engine).
  Variables inv inv' : loopid -> facts.
  Hypothesis SI : forall l, inv' l = inv l.

  Lemma fit_code_same finv c : forall act A X,
    fit_code M B (path F) e inv' finv act A X c = fit_code M B (path T) e inv finv act A X c.
  Proof.
    induction c; intros act A0 X; cbn [fit_code]; auto.
    - destruct (fit_items M B act A0 X (nth e f [])) as [[]|]; auto.
    - rewrite !SI, (enter_same F T ST), IHc1. destruct (_ && _); auto.
      destruct (fit_code M B (path T) e inv finv (l :: act) _ _ c1) as [[]|]; auto.
      destruct (_ && _); auto.
    - rewrite !(enter_same F T ST), IHc1, IHc2.
      destruct (fit_code M B (path T) e inv finv (lt :: act) _ _ c1) as [[]|]; auto.
      destruct (fit_code M B (path T) e inv finv (lf :: act) _ _ c2) as [[]|]; auto.
  Qed.

  Lemma guess_pass_same V G c : forall act A X N,
    guess_pass M B (path F) e inv' V G act A X N c =
    guess_pass M B (path T) e inv V G act A X N c.
  Proof.
    induction c; intros act A0 X N; cbn [guess_pass]; auto.
    - rewrite !SI, (enter_same F T ST), IHc1.
      destruct (guess_pass M B (path T) e inv V G (l :: act) _ _ _ c1) as [[]]. apply IHc2.
    - rewrite !(enter_same F T ST), IHc1.
      destruct (guess_pass M B (path T) e inv V G (lt :: act) _ _ _ c1) as [[]]. rewrite IHc2.
      destruct (guess_pass M B (path T) e inv V G (lf :: act) _ _ _ c2) as [[]]. apply IHc3.
  Qed.

  Lemma guess_upto_same V n A X c : forall G,
    guess_upto M B (path F) e inv' V n A X c G = guess_upto M B (path T) e inv V n A X c G.
  Proof. induction n; intros G; cbn [guess_upto]; auto. now rewrite guess_pass_same, IHn. Qed.
End Same.

Section Certificate.
  Variables (M : nat) (B : loopid -> nat) (c : cert).
  Let T := tables_of c.

  Definition fast_engine_fits (F : tables) (e : engine) : bool :=
    let A := nth e (c_roles c) [] in
    let X := start_firms e (c_code c) in
    let inv := fast_infer F e A (c_code c) in
    let V := live_registers F e A (c_code c) in
    let G := map_of (guess_upto M B (path F) e inv V guess_passes A X (c_code c) []) in
    match fit_code M B (path F) e inv (fun l => get_or [] G l) [ROOT] A X (c_code c) with
    | Some _ => true
    | None => false
    end.

  Definition fast_most_of (F : tables) (sites : tree site) (E : sema -> option entry) (w : sema) :=
    let s := get_or (mksite ROOT 0 0) sites w in
    match E w with
    | Some x => weight F (s_queue s) * (number x * B (Bisimulation.s_body s))
    | None => most_of B c w
    end.

  Definition code_fits_fast : bool :=
    let F := fast_tables c in
    let sm := map_of (c_signals c) in
    let sites := map_of (c_sites c) in
    let E := entries F (fun i => get sm i) c in
    (0 <? M) && forallb (fun '(_, w) => fast_most_of F sites (get E) w <? M) (c_signals c) &&
    forallb (fast_engine_fits F) (seq 0 (S (c_engines c))).

  Lemma guess_upto_inv_same e inv inv' V n A X x : (forall l, inv' l = inv l) -> forall G,
    guess_upto M B (path T) e inv' V n A X x G = guess_upto M B (path T) e inv V n A X x G.
  Proof. intros H. apply guess_upto_same; [split; auto|exact H]. Qed.

  Lemma fit_code_finv_same e inv finv finv' x : (forall l, finv' l = finv l) -> forall act A X,
    fit_code M B (path T) e inv finv' act A X x = fit_code M B (path T) e inv finv act A X x.
  Proof.
    intros H. induction x; intros act A0 X; cbn [fit_code]; auto.
    - destruct (fit_items M B act A0 X (nth e f [])) as [[]|]; auto.
    - rewrite !H, IHx1. destruct (_ && _); auto.
      destruct (fit_code M B (path T) e inv finv (l :: act) _ _ x1) as [[]|]; auto.
      destruct (_ && _); auto.
    - rewrite IHx1, IHx2.
      destruct (fit_code M B (path T) e inv finv (lt :: act) _ _ x1) as [[]|]; auto.
      destruct (fit_code M B (path T) e inv finv (lf :: act) _ _ x2) as [[]|]; auto.
  Qed.

  Lemma fast_engine_fits_right e : fast_engine_fits (fast_tables c) e = engine_fits M B c e.
  Proof.
    pose proof (fast_tables_same c) as ST. unfold fast_engine_fits, engine_fits. cbv zeta.
    set (A := nth e (c_roles c) []).
    assert (I : forall l, fast_infer (fast_tables c) e A (c_code c) l
                          = infer (tables_of c) e A (c_code c) l).
    { intros l. unfold fast_infer. rewrite get_or_map_of, (live_registers_same _ _ ST),
        (infer_upto_same _ _ ST). reflexivity. }
    rewrite (live_registers_same _ _ ST).
    rewrite (fit_code_same _ _ ST M B e _ _ I), (guess_upto_same _ _ ST M B e _ _ I).
    rewrite (fit_code_finv_same e _ (fun l => match guessed (guess_upto M B (path (tables_of c)) e
      (infer (tables_of c) e A (c_code c)) (live_registers (tables_of c) e A (c_code c))
      guess_passes A (start_firms e (c_code c)) (c_code c) []) l
      with Some H => H | None => [] end)); auto.
    intros l. now rewrite get_or_map_of.
  Qed.

  Theorem code_fits_fast_right : code_fits_fast = code_fits M B c.
  Proof.
    pose proof (fast_tables_same c) as ST. unfold code_fits_fast, code_fits. cbv zeta. f_equal.
    - f_equal. apply forallb_same. intros [i w]. f_equal. unfold fast_most_of.
      rewrite lookup_entries. destruct (lookup w (c_sites c)) as [s|] eqn:L; auto. simpl option_map.
      unfold most_of, site_of. rewrite get_or_map_of. unfold lookup_or. rewrite L.
      unfold group_at, entry_of. cbn [number fst snd]. rewrite (s_weight _ _ ST), (s_body _ _ ST).
      do 3 f_equal. apply filter_ext. intros j. apply raises_same. intros. apply get_map_of.
    - apply forallb_same. intros. apply fast_engine_fits_right.
  Qed.
End Certificate.
