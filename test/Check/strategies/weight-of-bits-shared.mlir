// RUN: %python %S/../Inputs/every-strategy.py %source_dir %s semaphores=4

// The same where the weight, not the width, makes numbers large: a semaphore holds 16 runs.

// REFUSED per-instruction: needs 5 semaphores, but machine 'tight' has 4
// REFUSED unrolled: needs constant trips

tally.kernel @heavy_shared {
  tally.engine "act" queues ["q0" weight 268435456, "q1"]
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
