// RUN: tally check %s --race --machine=%S/Inputs/byte-machine.json | FileCheck %s

// Nobody waits on "seen": that two queues raise it, that it is reset at any time and that it goes past
// what 8 bits hold makes no difference to what is ordered with what.

// CHECK: warning: semaphore 'seen' goes past 255, {{.*}}, but there are none
// CHECK-NOT: nothing orders
// CHECK: race:    yes: one schedule is enough

tally.kernel @unwaited {
  tally.engine "act"
  tally.engine "dma"
  tally.loop "A" trips 2 {
    tally.instr "load" on "dma"
    tally.instr "use" on "act"
  }
  tally.dep "load" -> "use" raw
}

tally.code @unwaited {
  tally.semaphore "full"
  tally.semaphore "seen"
  tally.program "act" {
    tally.register "r"
    tally.set "r" = 0
    tally.for "A" {
      tally.set "r" = "r" + 1
      tally.issue "use" waits "full" >= "r" signals "seen" by 200
    }
  }
  tally.program "dma" {
    tally.reset "seen"
    tally.for "A" {
      tally.issue "load" signals "full"
    }
  }
}
