// RUN: not tally check %s --race --guards=0 | FileCheck %s

// The same mistake, where the other semaphore never gets so far: "log" blocks for ever.

// CHECK:      error: deadlock: 'log' on 'act' waits for 'more' >= 2, which holds 1, in A = 1; its register 'w' still holds what 'use' on 'act' waited for on 'full' (A = 1)
// CHECK-NEXT: note: nothing raises 'more' any more

tally.kernel @stale {
  tally.engine "act"
  tally.engine "dma"
  tally.loop "A" trips 4 {
    tally.instr "load" on "dma"
    tally.instr "use" on "act"
    tally.if "last" {
      tally.instr "other" on "dma"
    }
    tally.instr "log" on "act"
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
      tally.branch "last" {
        tally.issue "other" signals "more"
      }
    }
  }
}
