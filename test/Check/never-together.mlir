// Two that touch what they touch, but meet only in runs that are longer than is tried, were never compared. What can
// never meet needs no run, and what meets where an equation holds is brought together.
//
// RUN: bash -c 'tally check %s --race; test $? -ne 0' | FileCheck %s
// RUN: bash -c 'tally check %s --race --format=json; test $? -ne 0' | FileCheck %s --check-prefix=JSON

// CHECK-LABEL: kernel 'far_apart'
// CHECK: race: could not decide: nothing wrong was seen; but 'w' touched X[A] and 'r' touched X[B + 20000], but never so that they met
// JSON:      "never_together": [
// JSON-NEXT:   {
// JSON-NEXT:     "first": "w",
// JSON-NEXT:     "first_tile": "X[A]",
// JSON-NEXT:     "second": "r",
// JSON-NEXT:     "second_tile": "X[B + 20000]"
tally.kernel @far_apart {
  tally.engine "a"
  tally.engine "b"
  tally.buffer "X" shape [50000]
  tally.loop "A" trips "n" max 25000 { tally.instr "w" on "a" writes ["X[A]"] }
  tally.loop "B" trips "m" max 25000 { tally.instr "r" on "b" reads ["X[B + 20000]"] }
  tally.dep "w" -> "w" at "A" = 1
}

// CHECK-LABEL: kernel 'odd_and_even'
// CHECK: race: yes
// CHECK-NOT: never
// CHECK: verdict: yes
tally.kernel @odd_and_even {
  tally.engine "a"
  tally.engine "b"
  tally.buffer "X" shape [200]
  tally.loop "A" trips "n" max 90 {
    tally.instr "r" on "b" reads ["X[2*A]"]
    tally.instr "w" on "a" writes ["X[2*A + 1]"]
  }
  tally.dep "w" -> "w" at "A" = 1
}

// CHECK-LABEL: kernel 'equation'
// CHECK: error: race: nothing makes 'r' (A = 11, B = {{[0-9]+}}), which reads X[{{[0-9]+}}], wait for 'w'
// CHECK: verdict: no
tally.kernel @equation {
  tally.engine "a"
  tally.engine "b"
  tally.buffer "X" shape [100000]
  tally.loop "A" trips "n" max 150 {
    tally.loop "B" trips "m" max 150 {
      tally.instr "r" on "b" reads ["X[33*B + A + 2] if A == 11"]
      tally.instr "w" on "a" writes ["X[16*A + 66] if (16*B + 2*A) mod 31 == 12"]
    }
  }
  tally.dep "w" -> "w" at "B" = 1
}

// Branches in turn, each with a guard that holds once.
// CHECK-LABEL: kernel 'never_together'
// CHECK: with --trips=A=3 --trips=c=0,1,1 --trips=d=1,0
// CHECK: verdict: no
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
