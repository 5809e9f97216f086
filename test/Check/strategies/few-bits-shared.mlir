// RUN: %python %S/../Inputs/every-strategy.py %source_dir %s semaphores=4 bits=8

// Three instructions have to share a semaphore, which then counts three times as fast. Eight bits have to be reset,
// although they would have sufficed for each alone.

// REFUSED per-instruction: needs 5 semaphores, but machine 'tight' has 4
// REFUSED unrolled: needs constant trips

tally.kernel @shared {
  tally.engine "act" queues ["q0" weight 16, "q1"]
  tally.loop "L3" trips 3 {
    tally.loop "L1" while "more" {
      tally.instr "i1" on "q0"
      tally.instr "i2" on "q0"
      tally.instr "i4" on "q0"
    }
    tally.instr "i5" on "q0"
    tally.instr "i6" on "q1"
  }
  tally.instr "i9" on "q1"
  tally.instr "i12" on "q1"
  tally.dep "i2" -> "i2" at "L1" = 1
  tally.dep "i6" -> "i12"
  tally.dep "i5" -> "i5" at "L3" = 1
  tally.dep "i1" -> "i5" at "L3" = 1
  tally.dep "i4" -> "i9"
}
