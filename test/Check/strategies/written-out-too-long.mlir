// RUN: %python %S/../Inputs/every-strategy.py %source_dir %s bits=8 compare=signed

// Written out, five iterations raise one semaphore to 160, which a wait that compares with sign takes for less than 0.

// REFUSED unrolled: up to 160, but the largest number that counters of this machine tell is 127

tally.kernel @written_out_too_long {
  tally.engine "dma" weight 16
  tally.engine "act"
  tally.loop "A" trips 5 {
    tally.instr "left" on "dma"
    tally.instr "right" on "dma"
    tally.instr "join" on "act"
  }
  tally.dep "left" -> "join"
  tally.dep "right" -> "join"
}
