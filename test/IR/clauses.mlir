// Clauses come in any order, and are printed in one.
// RUN: tally-opt %s | FileCheck %s
// RUN: tally-opt %s -o %t.mlir
// RUN: tally-opt %t.mlir | diff %t.mlir -

// CHECK: tally.kernel @k reserves [0] attributes {note = "kept"} {
tally.kernel @k reserves [0] attributes {note = "kept"} {
  // CHECK-NEXT: tally.engine "e" weight 2 split queues ["q" weight 4 split, "p"] reserves [3]
  tally.engine "e" reserves [3] queues ["q" split weight 4, "p" whole] split weight 2
  // CHECK-NEXT: tally.buffer "X" shape [2] type "f32" space "s" at 16
  tally.buffer "X" at 16 space "s" type "f32" shape [2]
  // CHECK-NEXT: tally.buffer "Y" alias ["X"]
  tally.buffer "Y" alias ["X"]
  // CHECK-NEXT: tally.loop "A" trips "n" min 1 max 9 divergent unroll 4 sync "per-loop" {
  tally.loop "A" sync "per-loop" max 9 unroll 4 divergent min 1 trips "n" {
    // CHECK-NEXT: tally.if "c" divergent sync "barrier" {
    tally.if "c" sync "barrier" divergent {
      // CHECK-NEXT: tally.instr "i" on "e" op "f" computes "r0; r0" reads ["X"] writes ["Y"] accumulates ["X"] semaphore 3
      tally.instr "i" semaphore 3 accumulates ["X"] writes ["Y"] reads ["X"] computes "r0; r0" op "f" on "e"
    }
  }
  // CHECK: tally.loop "W" while "more" divergent {
  tally.loop "W" divergent while "more" {
    // CHECK-NEXT: tally.instr "j" on "q"
    tally.instr "j" on "q"
  }
  // CHECK: tally.dep "i" -> "i" raw at "A" = 2 allow_divergent semaphore 3
  tally.dep "i" -> "i" semaphore 3 allow_divergent at "A" = 2 raw
  // CHECK-NEXT: tally.dep "j" -> "j" waw flat 1
  tally.dep "j" -> "j" flat 1 waw
}

// CHECK: tally.code @k strategy "manual" machine "m" {
tally.code @k machine "m" strategy "manual" {
  // CHECK-NEXT: tally.semaphore "s"
  tally.semaphore "s"
  tally.semaphore "t"
  tally.semaphore "u"
  tally.semaphore "v"
  // CHECK: tally.program "e" {
  tally.program "e" {
    // CHECK-NEXT: tally.register "r" role "x"
    tally.register "r" role "x"
    // CHECK-NEXT: tally.for "A" counter "r" unroll 4 {
    tally.for "A" unroll 4 counter "r" {
      // CHECK-NEXT: tally.branch "c" {
      tally.branch "c" {
        // CHECK-NEXT: tally.issue "i" waits "s" >= 1 for [0] signals "v" by 2
        tally.issue "i" signals "v" by 2 waits "s" >= 1 for [0]
      }
    }
    // CHECK: tally.for "W" {
    tally.for "W" {
      // CHECK-NEXT: tally.issue "j" signals "s"
      tally.issue "j" signals "s"
    }
  }
}
