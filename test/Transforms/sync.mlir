// RUN: tally-opt %s --tally-sync=strategy=per-loop | FileCheck %s
// RUN: tally-opt %s --tally-sync="strategy=per-instruction machine=trn2" | FileCheck %s --check-prefix=INSTR
// Compiling again replaces the code; what is written reads back as it was.
// RUN: tally-opt %s --tally-sync -o %t.mlir
// RUN: tally-opt %t.mlir --tally-sync=strategy=auto | diff %t.mlir -
// RUN: tally-opt %t.mlir --tally-normalize | diff %t.mlir -
// RUN: tally-opt %s --tally-sync="strategy=barrier" -o %t.barrier.mlir
// RUN: tally-opt %t.barrier.mlir --tally-normalize | diff %t.barrier.mlir -
// RUN: not tally-opt %s --tally-sync="strategy=fastest" 2>&1 | FileCheck %s --check-prefix=STRATEGY
// STRATEGY: error: unknown strategy 'fastest'; the strategies are 'barrier',
// RUN: not tally-opt %s --tally-sync="machine=nowhere" 2>&1 | FileCheck %s --check-prefix=MACHINE
// MACHINE: error: {{.*}}'nowhere'

tally.kernel @k {
  tally.engine "scalar"
  tally.engine "sync" weight 16
  tally.loop "A" trips "n" {
    tally.instr "load" on "sync"
    tally.instr "scale" on "scalar"
  }
  tally.dep "load" -> "scale"
  tally.dep "scale" -> "load" at "A" = 2
}

// CHECK:       tally.code @k strategy "per-loop" machine "trn2" {
// CHECK:         tally.semaphore "A.sync"
// CHECK:         tally.program "scalar" {
// CHECK:           tally.for "A"
// CHECK:             tally.issue "scale" waits "A.sync" >= "{{.*}}" for [0] signals "A.scalar"
// CHECK:         tally.program "sync" {
// CHECK:             tally.issue "load" waits "A.scalar" >= "{{.*}}" for [1] signals "A.sync" by 16
// CHECK-NOT:     tally.code

// INSTR:       tally.code @k strategy "per-instruction" machine "trn2" {
// INSTR:         tally.semaphore "load
