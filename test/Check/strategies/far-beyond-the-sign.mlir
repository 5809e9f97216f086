// RUN: %python %S/../Inputs/every-strategy.py %source_dir %s bits=16 subtraction=wraps compare=signed

// The distance times the weight is more than half of what 16 bits hold: a difference that wraps far below 0 looks positive again.

// REFUSED unrolled: needs constant trips

tally.kernel @far_beyond_the_sign {
  tally.engine "dma" weight 16
  tally.engine "act"
  tally.loop "A" trips "n" max 90 {
    tally.instr "load" on "dma"
    tally.instr "use" on "act"
  }
  tally.dep "load" -> "use" at "A" = 2200
}
