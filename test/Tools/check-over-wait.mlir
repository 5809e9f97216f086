// RUN: tally check %s --race | FileCheck %s

// "use" waits for the last load from the first iteration on. Nothing is wrong; it only waits too long.

// CHECK:      warning: 'use' on 'act' waits for 'full' >= 4 in A = 0, longer than anything after it asks: 1 would do
// CHECK-NEXT: note: 1 of 4 runs of this wait ask for too much; 1 of them held the engine up in this schedule
// CHECK:      race:    yes: one schedule is enough

tally.kernel @all_first {
  tally.engine "act"
  tally.engine "dma"
  tally.buffer "X" shape [4]
  tally.loop "A" trips 4 {
    tally.instr "load" on "dma" writes ["X[A]"]
    tally.instr "use" on "act" reads ["X[A]"]
  }
  tally.dep "load" -> "use" raw
}

tally.code @all_first {
  tally.semaphore "full"
  tally.program "act" {
    tally.for "A" {
      tally.issue "use" waits "full" >= 4
    }
  }
  tally.program "dma" {
    tally.for "A" {
      tally.issue "load" signals "full"
    }
  }
}
