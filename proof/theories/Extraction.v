(* Extraction.v -- the checker as OCaml

   Purpose   Writes certifier.ml, which proof/extraction/ builds tally-certify from. A copy is kept
             there, so that only OCaml is needed to build it; a test compares the two.
             [certify_fast] decides; [spec_does] and [code_does] replay runs; the rest explains a
             rejection.
   Paper     -
   C++       tools/tally/Certify.cpp runs tally-certify
   Trusted   Coq's extraction; the OCaml expressions below, with proof/extraction/steps.ml; and
             numbers as OCaml's machine integers, which is exact: a sum or product that does not fit
             ends the program, as do too many sums and comparisons *)

Require Coq.extraction.Extraction.
From Coq Require Import ExtrOcamlBasic ExtrOcamlNatInt PeanoNat.
From Tally Require Import Syntax Semantics Expr Known Checker Infer Legality Certificate Fits.
From Tally Require Import FastTables FastChecker FastFits Execute.

Extraction Language OCaml.

(* The standard mapping leaves these unary, or lets them overflow. *)
Extract Inlined Constant Init.Nat.add => "Steps.sum".
Extract Inlined Constant Init.Nat.mul =>
  "(fun (a : int) (b : int) -> if a > 0 && b > max_int / a then failwith ""overflow"" else a * b)".
Extract Inlined Constant Nat.eqb => "Steps.equal".
Extract Inlined Constant Nat.leb => "Steps.at_most".
Extract Inlined Constant Nat.ltb => "Steps.below".
Extract Inlined Constant Nat.max => "Steps.larger".
Extract Inlined Constant Nat.min => "Steps.smaller".
Extract Inlined Constant Init.Nat.sub => "(fun (a : int) (b : int) -> if a < b then 0 else a - b)".
Extract Inlined Constant Nat.div => "(fun (a : int) (b : int) -> if b = 0 then 0 else a / b)".
Extract Inlined Constant Nat.modulo =>
  "(fun (a : int) (b : int) -> if b = 0 then a else a mod b)".

Extraction "certifier.ml" certify_fast code_fits_fast fast_engine_fits check legal chk infer
  at_start about_of touched tables_of signals_of rank_of is_branch are_opposite
  spec_does code_does sinit iinit owed is_ready wait_passes.
