// What was never compared is no yes: a tile that no run has touched is named, with what its guard asks
// for, unless nothing can conflict with it.
//
// RUN: bash -c 'tally check %s --race; test $? -eq 2' | FileCheck %s
// RUN: bash -c 'tally check %s --race --format=json; test $? -eq 2' | FileCheck %s --check-prefix=JSON

// CHECK-LABEL: kernel 'beyond'
// CHECK:       race: could not decide: nothing wrong was seen; but 'w' never touched X[0], which needs A == 20000
// CHECK:       verdict: could not decide
// JSON:        "never_touched": [
// JSON-NEXT:     {
// JSON-NEXT:       "instruction": "w",
// JSON-NEXT:       "tile": "X[0]",
// JSON-NEXT:       "needs": "A == 20000"
tally.kernel @beyond {
  tally.engine "d"
  tally.engine "a"
  tally.buffer "X" shape [8]
  tally.loop "A" trips "n" max 65536 {
    tally.instr "w" on "d" writes ["X[0] if A == 20000"]
    tally.instr "r" on "a" reads ["X[0]"]
  }
  tally.dep "r" -> "r" at "A" = 1
}

// Nobody writes, and the one that writes does so once.
// CHECK-LABEL: kernel 'harmless'
// CHECK:       race: yes
// CHECK-NOT:   never
// CHECK:       verdict: yes
// JSON:        "never_touched": []
tally.kernel @harmless {
  tally.engine "d"
  tally.engine "a"
  tally.buffer "X" shape [8]
  tally.buffer "Y" shape [8]
  tally.loop "A" trips "n" max 65536 {
    tally.instr "p" on "d" reads ["X[0] if A == 20000"]
    tally.instr "r" on "a" reads ["X[0]"]
  }
  tally.instr "w" on "d" writes ["Y[0]"]
  tally.dep "r" -> "r" at "A" = 1
}

// All trips that there are have been tried.
// CHECK-LABEL: kernel 'fixed'
// CHECK:       race: yes
// CHECK:       verdict: yes
tally.kernel @fixed {
  tally.engine "d"
  tally.engine "a"
  tally.buffer "X" shape [8]
  tally.loop "A" trips 4 {
    tally.instr "w" on "d" writes ["X[0] if A == 7"]
    tally.instr "r" on "a" reads ["X[0]"]
  }
  tally.dep "r" -> "r" at "A" = 1
}
