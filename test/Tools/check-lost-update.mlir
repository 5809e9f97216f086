// RUN: not tally check %s --race | FileCheck %s

// The count of iterations is set before the loop and never advanced: the second "use" waits for the
// first load.

// CHECK: error: race: nothing makes 'use' (A = 1), which reads X[1], wait for 'load' (A = 1), which writes it
// CHECK: note: 'use' has to wait for 'full' >= 2; it waits for 'full' >= 1 (its register 'w' was not set since the same wait read it before (A = 0))
// CHECK: note: the kernel has the dependence 'load' -> 'use'
// CHECK: note: 3 times in this schedule

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
    tally.set "w" = 1
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
