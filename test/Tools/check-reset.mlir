// RUN: bash -c 'tally check %s --race > %t; test $? -eq 2'
// RUN: FileCheck %s < %t

// "act" sets the semaphore to 0 after the first load, not knowing whether the second has raised it. No
// harm comes of it here, since nobody waits on it any more.

// CHECK: warning: nothing orders the reset before 'last' on 'act', which sets 'full' to 0, and 'more' on 'dma'
// CHECK-NEXT: note: the other one is here
// CHECK: race:    could not decide: nothing wrong was seen, but resets may come at other times in other schedules
// CHECK: verdict: could not decide

tally.kernel @reset {
  tally.engine "act"
  tally.engine "dma"
  tally.instr "load" on "dma"
  tally.instr "more" on "dma"
  tally.instr "use" on "act"
  tally.instr "last" on "act"
  tally.dep "load" -> "use" raw
}

tally.code @reset {
  tally.semaphore "full"
  tally.program "act" {
    tally.issue "use" waits "full" >= 1
    tally.reset "full"
    tally.issue "last"
  }
  tally.program "dma" {
    tally.issue "load" signals "full"
    tally.issue "more" signals "full"
  }
}
