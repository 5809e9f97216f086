// RUN: not tally check %s --race | FileCheck %s

// The count of iterations is never written: the wait asks for 0 every time.

// CHECK: note: 'use' has to wait for 'full' >= 1; it waits for 'full' >= 0 (its register 'w' was never set and holds 0)
// CHECK: note: 4 times in this schedule

tally.kernel @lost {
  tally.engine "act"
  tally.engine "dma"
  tally.buffer "X" shape [4]
  tally.loop "A" trips 4 {
    tally.instr "load" on "dma" writes ["X[A]"]
    tally.instr "use" on "act" reads ["X[A]"]
  }
  tally.dep "load" -> "use" raw
}

tally.code @lost {
  tally.semaphore "full"
  tally.program "act" {
    tally.register "w"
    tally.for "A" {
      tally.issue "use" waits "full" >= "w"
    }
  }
  tally.program "dma" {
    tally.for "A" {
      tally.issue "load" signals "full"
    }
  }
}
