// RUN: not tally check %s --race | FileCheck %s
// RUN: not tally check %s --explore --witness=%t.json | FileCheck %s --check-prefix=EXPLORE
// RUN: not tally check --replay=%t.json | FileCheck %s --check-prefix=REPLAY

// Everything runs as it should, but "dma" waits for one use more than there is: nothing after this kernel begins.

// CHECK: error: deadlock: the wait at the end on 'dma' waits for 'free' >= 5, which holds
// CHECK: race:    no
//
// EXPLORE:      check-end.mlir:[[# @LINE + 7]]:3: error: deadlock: everything has run, but engine 'dma' never reaches its end: the code waits for 'free' >= 5, which is {{[0-4]}}
// EXPLORE:      explore: no: deadlock: a schedule shows it
//
// REPLAY: dma: {{.*}}waits for 'free' >= 5

tally.kernel @pipe {
  tally.engine "act"
  tally.engine "dma"
  tally.loop "A" trips "n" min 0 max 4 {
    tally.instr "load" on "dma"
    tally.instr "use" on "act"
  }
  tally.dep "load" -> "use"
}
tally.code @pipe {
  tally.semaphore "full"
  tally.semaphore "free"
  tally.program "act" {
    tally.register "r"
    tally.set "r" = 0
    tally.for "A" {
      tally.set "r" = "r" + 1
      tally.issue "use" waits "full" >= "r" signals "free"
    }
  }
  tally.program "dma" {
    tally.for "A" {
      tally.issue "load" signals "full"
    }
    tally.wait "free" >= 5
  }
}
