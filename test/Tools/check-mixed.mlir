// RUN: bash -c 'tally check %s --race > %t; test $? -eq 2'
// RUN: FileCheck %s < %t

// Two queues raise one semaphore. Which load comes first depends on the schedule: each is used after
// one of them, whichever that is, by an instruction that needs neither. Nothing is wrong, but no
// schedule speaks for the others.

// CHECK: race:    could not decide: nothing wrong was seen, but several raise 'any', and other schedules may order the code differently
// CHECK: 100 schedules
// CHECK: the kernel says neither what is accessed nor what depends on what
// CHECK: verdict: could not decide

tally.kernel @mixed {
  tally.engine "act"
  tally.engine "dma" queues ["q"]
  tally.instr "one" on "dma"
  tally.instr "two" on "q"
  tally.instr "use" on "act"
}

tally.code @mixed {
  tally.semaphore "any"
  tally.program "act" {
    tally.issue "use" waits "any" >= 1
  }
  tally.program "dma" {
    tally.issue "one" signals "any"
    tally.issue "two" signals "any"
  }
}
