// RUN: %python %S/../Inputs/every-strategy.py %source_dir %s semaphores=1

// A queue of the engine that waits for it may be counted as a whole, divergent or not: an engine agrees with itself.

// REFUSED per-instruction: needs 3 semaphores, but machine 'tight' has 1
// REFUSED per-loop: needs 3 semaphores
// REFUSED unrolled: needs constant trips

tally.kernel @itself {
  tally.engine "act"
  tally.instr "i1" on "act"
  tally.loop "L3" trips "n" max 100 {
    tally.instr "i2" on "act"
    tally.if "c" divergent {
      tally.instr "i3" on "act"
      tally.instr "i4" on "act"
      tally.instr "i7" on "act"
    }
  }
  tally.dep "i2" -> "i7" at "L3" = 1
  tally.dep "i1" -> "i2"
  tally.dep "i4" -> "i3" at "L3" = 3
}
