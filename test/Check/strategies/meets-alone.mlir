// RUN: %python %S/../Inputs/every-strategy.py %source_dir %s semaphores=5

// Only one engine takes part in the reset, so no semaphore is needed to meet: five are enough.

// REFUSED unrolled: needs constant trips

tally.kernel @alone {
  tally.engine "act" queues ["q0"]
  tally.engine "dma" queues ["q1" weight 16]
  tally.if "c" {
    tally.instr "first" on "act"
  }
  tally.instr "second" on "act"
  tally.instr "load" on "q1"
  tally.loop "L1" trips "n" {
    tally.instr "self" on "q0"
  }
  tally.instr "last" on "q1"
  tally.dep "self" -> "self" at "L1" = 2
  tally.dep "load" -> "second"
  tally.dep "second" -> "last"
  tally.dep "first" -> "load"
}
