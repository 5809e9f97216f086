// RUN: not tally check %s --race --witness=%t.json | FileCheck %s
// RUN: not tally check --replay=%t.json | FileCheck %s --check-prefix=REPLAY

// "dma" may run the loop more often than "act": then it waits for slots that never come free. Trips
// that are the same on both engines do not show it.

// CHECK:      with --trips=A@act=2 --trips=A@dma=3:
// CHECK-NEXT: {{.*}}error: deadlock: 'load' on 'dma' waits for 'free' >= 3, which holds 2, in A = 2
// CHECK-NEXT: note: nothing raises 'free' any more
// CHECK:      race:    no
// REPLAY:     deadlock: 'load' on 'dma'

tally.kernel @divergent {
  tally.engine "act"
  tally.engine "dma"
  tally.loop "A" trips "n" divergent {
    tally.instr "load" on "dma"
    tally.instr "use" on "act"
  }
}

tally.code @divergent {
  tally.semaphore "free"
  tally.program "act" {
    tally.for "A" {
      tally.issue "use" signals "free"
    }
  }
  tally.program "dma" {
    tally.register "r"
    tally.set "r" = 0
    tally.for "A" {
      tally.set "r" = "r" + 1
      tally.issue "load" waits "free" >= "r"
    }
  }
}
