(* FastFits.v -- whether numbers fit, for kernels of real size

   Purpose   [code_fits] with the tables of FastChecker.v; proved to be the same function.
   Paper     -
   C++       what runs in tally-certify, for machines that wrap around
   Trusted   nothing *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.
From Tally Require Import Syntax Semantics Maps Expr Known Checker Infer Bisimulation Legality.
From Tally Require Import Certificate FastTables FastChecker Fits.

Section Same.
  Variables F T : tables.
  Hypothesis ST : same_tables F T.
  Variables (M : nat) (B : loopid -> nat) (e : engine).
  Variables (about : tree (list reg)) (inv : guess expr).

  Lemma fit_code_same finv c : forall act A X,
    fit_code M B (path F) e about inv finv act A X c =
    fit_code M B (path T) e about inv finv act A X c.
  Proof.
    induction c; intros act A0 X; cbn [fit_code]; auto.
    - destruct (fit_items M B act A0 X (nth e f [])) as [[]|]; auto.
    - rewrite (enter_same F T ST), IHc1. destruct (_ && _); auto.
      destruct (fit_code M B (path T) e about inv finv (l :: act) _ _ c1) as [[]|]; auto.
      destruct (_ && _); auto.
    - rewrite !(enter_same F T ST), IHc1, IHc2.
      destruct (fit_code M B (path T) e about inv finv (lt :: act) _ _ c1) as [[]|]; auto.
      destruct (fit_code M B (path T) e about inv finv (lf :: act) _ _ c2) as [[]|]; auto.
  Qed.

  Lemma guess_pass_same G c : forall act A X N,
    guess_pass M B (path F) e about inv G act A X N c =
    guess_pass M B (path T) e about inv G act A X N c.
  Proof.
    induction c; intros act A0 X N; cbn [guess_pass]; auto.
    - rewrite (enter_same F T ST), IHc1.
      destruct (guess_pass M B (path T) e about inv G (l :: act) _ _ _ c1) as [[]]. apply IHc2.
    - rewrite !(enter_same F T ST), IHc1.
      destruct (guess_pass M B (path T) e about inv G (lt :: act) _ _ _ c1) as [[]]. rewrite IHc2.
      destruct (guess_pass M B (path T) e about inv G (lf :: act) _ _ _ c2) as [[]]. apply IHc3.
  Qed.

  Lemma guess_upto_same n A X c : forall G,
    guess_upto M B (path F) e about inv n A X c G = guess_upto M B (path T) e about inv n A X c G.
  Proof. induction n; intros G; cbn [guess_upto]; auto. now rewrite guess_pass_same, IHn. Qed.
End Same.

Section Certificate.
  Variables (M : nat) (B : loopid -> nat) (c : cert).
  Let T := tables_of c.

  Definition fast_engine_fits (F : tables) (e : engine) : bool :=
    let roles := nth e (c_roles c) [] in
    let about := about_of roles in
    let A := at_start roles in
    let X := start_firms e (c_code c) in
    let inv := infer F e roles (c_code c) in
    let finv := guess_upto M B (path F) e about inv guess_passes A X (c_code c) Leaf in
    match fit_code M B (path F) e about inv finv [ROOT] A X (c_code c) with
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

  Lemma fast_engine_fits_right e : fast_engine_fits (fast_tables c) e = engine_fits M B c e.
  Proof.
    pose proof (fast_tables_same c) as ST. unfold fast_engine_fits, engine_fits. cbv zeta.
    now rewrite (infer_same _ _ ST), (guess_upto_same _ _ ST), (fit_code_same _ _ ST).
  Qed.

  Theorem code_fits_fast_right : code_fits_fast = code_fits M B c.
  Proof.
    pose proof (fast_tables_same c) as ST. unfold code_fits_fast, code_fits. cbv zeta.
    apply f_equal2; [apply f_equal2; [reflexivity|]|].
    - apply forallb_same. intros [i w]. f_equal. unfold fast_most_of.
      rewrite lookup_entries. destruct (lookup w (c_sites c)) as [s|] eqn:L; auto. simpl option_map.
      unfold most_of, site_of. rewrite get_or_map_of. unfold lookup_or. rewrite L.
      unfold group_at, entry_of. cbn [number fst snd]. rewrite (s_weight _ _ ST), (s_body _ _ ST).
      do 3 f_equal. apply filter_ext. intros j. apply raises_same. intros. apply get_map_of.
    - apply forallb_same. intros. apply fast_engine_fits_right.
  Qed.
End Certificate.
