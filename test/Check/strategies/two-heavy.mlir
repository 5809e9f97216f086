// RUN: %python %S/../Inputs/every-strategy.py %source_dir %s bits=8

// Each of two loads raises a semaphore by more than half of what eight bits hold, outside of all loops: nothing can be reset
// between them.

// REFUSED per-loop: raises one semaphore by 360 before it can be reset
// REFUSED per-engine: raises one semaphore by 360 before it can be reset
// REFUSED barrier: raises one semaphore by 360 before it can be reset
// REFUSED unrolled: counts queue 'dma' up to 360

tally.kernel @two_heavy {
  tally.engine "act"
  tally.engine "dma" weight 180
  tally.instr "left" on "dma"
  tally.instr "right" on "dma"
  tally.instr "join" on "act"
  tally.dep "left" -> "join"
  tally.dep "right" -> "join"
}
