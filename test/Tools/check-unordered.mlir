// RUN: not tally check %s --race | FileCheck %s
// RUN: not tally check %s --explore --witness=%t.json | FileCheck %s --check-prefix=EXPLORE
// RUN: not tally check --replay=%t.json | FileCheck %s --check-prefix=REPLAY

// No accesses, only a dependence, which the code forgets: in the schedule that runs the consumer's
// engine first, the producer has not even been issued.

// CHECK: error: unordered: 'use' (A = 0) does not wait for 'load' (A = 0), as the dependence 'load' -> 'use'
// CHECK: note: 'use' has to wait for 'full' >= 1; it waits for nothing
// CHECK: race:    no

// EXPLORE:      with --trips=A=1:
// EXPLORE-NEXT: {{.*}}check-unordered.mlir:[[#@LINE+13]]:5: error: 'use' at A = 0
// EXPLORE-NEXT: {{.*}}check-unordered.mlir:{{.*}}: note: the dependence 'load' -> 'use'
// EXPLORE-NEXT: {{.*}}check-unordered.mlir:[[#@LINE+10]]:5: note: 'load' is here
// EXPLORE:      explore: no: early: a schedule shows it

// REPLAY: error: unordered: 'use' (A = 0) does not wait for 'load' (A = 0), {{.*}}; it may not even have been issued
// REPLAY: verdict: no

tally.kernel @unordered {
  tally.engine "act"
  tally.engine "dma"
  tally.loop "A" trips "n" {
    tally.instr "load" on "dma"
    tally.instr "use" on "act"
  }
  tally.dep "load" -> "use" raw
}

tally.code @unordered {
  tally.semaphore "full"
  tally.program "act" {
    tally.for "A" {
      tally.issue "use"
    }
  }
  tally.program "dma" {
    tally.for "A" {
      tally.issue "load" signals "full"
    }
  }
}
