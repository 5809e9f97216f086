// What two touch in different runs alone was never compared.
//
// RUN: bash -c 'tally check %s --race; test $? -eq 2' | FileCheck %s
// RUN: bash -c 'tally check %s --race --format=json; test $? -eq 2' | FileCheck %s --check-prefix=JSON
// RUN: not tally check %s --race --trips=A=3 --guards=32 | FileCheck %s --check-prefix=GIVEN

// CHECK: race: could not decide: nothing wrong was seen; but 'r' touched X and 'w' touched X, but never in one run
// JSON:      "never_together": [
// JSON-NEXT:   {
// JSON-NEXT:     "first": "r",
// JSON-NEXT:     "first_tile": "X",
// JSON-NEXT:     "second": "w",
// JSON-NEXT:     "second_tile": "X"
// GIVEN: verdict: no
tally.kernel @never_together {
  tally.engine "a"
  tally.engine "b"
  tally.buffer "X"
  tally.loop "A" trips "n" max 4 {
    tally.if "c" {
      tally.if "d" { tally.instr "r" on "b" reads ["X if A == 1"] } else { tally.instr "w" on "a" writes ["X if A == 2"] }
    }
  }
}
tally.code @never_together strategy "manual" machine "generic" {
  tally.program "a" { tally.for "A" { tally.branch "c" { tally.branch "d" { } else { tally.issue "w" } } } }
  tally.program "b" { tally.for "A" { tally.branch "c" { tally.branch "d" { tally.issue "r" } } } }
}
