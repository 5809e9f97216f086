// RUN: bash -c 'tally check %s --race > %t; test $? -eq 2'
// RUN: FileCheck %s < %t

// "act" sets the semaphore to 0 without waiting for the load that raises it: the raise may be erased.

// CHECK: warning: nothing orders the reset before 'use' on 'act', which sets 'full' to 0, and 'load' on 'dma'
// CHECK: verdict: could not decide

tally.kernel @reset {
  tally.engine "act"
  tally.engine "dma"
  tally.instr "load" on "dma"
  tally.instr "use" on "act"
}

tally.code @reset {
  tally.semaphore "full"
  tally.program "act" {
    tally.reset "full"
    tally.issue "use"
  }
  tally.program "dma" {
    tally.issue "load" signals "full"
  }
}
