// RUN: tally-opt %s --tally-sync | FileCheck %s
// The same as from `tally compile`.
// RUN: tally-opt %s --tally-sync --tally-normalize -o %t.mlir
// RUN: tally compile %s | tally-opt --tally-normalize | diff %t.mlir -
// RUN: tally-opt %s --tally-sync="find-deps=false" | FileCheck %s --check-prefix=WRITTEN
// RUN: tally-opt %s --tally-sync="keep-implied=true" | FileCheck %s --check-prefix=IMPLIED
// RUN: tally-opt %s --tally-sync 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// A kernel that says what its instructions touch, and no dependence, gets those that follow.

// CHECK:       tally.kernel @found
// CHECK:         tally.dep "use" -> "load" war at "A" = 2
// CHECK-NEXT:    tally.dep "load" -> "use" raw
// CHECK-NEXT:  }
// CHECK:       tally.code @found

// WRITTEN-NOT: tally.dep
// WRITTEN:     tally.code @found

// IMPLIED:     tally.dep "load" -> "load" waw at "A" = 2
tally.kernel @found {
  tally.engine "act"
  tally.engine "dma"
  tally.buffer "X" shape [2]
  tally.loop "A" trips "n" {
    tally.instr "load" on "dma" writes ["X[A mod 2]"]
    tally.instr "use" on "act" reads ["X[A mod 2]"]
  }
}

// REMARK: sync-deps.mlir:[[# @LINE + 6]]:3: remark: 'gather' -> 'scan' may wait longer than it has to: 'Y[@]' may be anywhere
tally.kernel @vague {
  tally.engine "act"
  tally.engine "dma"
  tally.buffer "Y" shape [2]
  tally.instr "gather" on "dma" writes ["Y[@]"]
  tally.instr "scan" on "act" reads ["Y[0]"]
}
