// RUN: tally check %s --race | FileCheck %s

// "log" needs nothing, but waits on another semaphore for what the register still holds from "use".

// CHECK:      warning: 'log' on 'act' waits for 'more' >= 1 in A = 0, longer than anything after it asks: no wait is needed here
// CHECK-NEXT: note: 4 of 4 runs of this wait ask for too much
// CHECK-NEXT: note: its register 'w' still holds what 'use' on 'act' waited for on 'full' (A = 0)
// CHECK:      verdict: yes

tally.kernel @stale {
  tally.engine "act"
  tally.engine "dma"
  tally.buffer "X" shape [4]
  tally.buffer "L" shape [4]
  tally.buffer "Y" shape [4]
  tally.loop "A" trips 4 {
    tally.instr "load" on "dma" writes ["X[A]"]
    tally.instr "other" on "dma" writes ["Y[A]"]
    tally.instr "use" on "act" reads ["X[A]"]
    tally.instr "log" on "act" writes ["L[A]"]
  }
  tally.dep "load" -> "use" raw
}

tally.code @stale {
  tally.semaphore "full"
  tally.semaphore "more"
  tally.program "act" {
    tally.register "w"
    tally.set "w" = 0
    tally.for "A" {
      tally.set "w" = "w" + 1
      tally.issue "use" waits "full" >= "w"
      tally.issue "log" waits "more" >= "w"
    }
  }
  tally.program "dma" {
    tally.for "A" {
      tally.issue "load" signals "full"
      tally.issue "other" signals "more"
    }
  }
}
