// RUN: %python %S/../Inputs/every-strategy.py %source_dir %s bits=8 subtraction=wraps --trips=A=530

// The distance itself is a number that eight bits do not hold.

// REFUSED unrolled: needs constant trips

tally.kernel @wider_than_counters {
  tally.engine "dma"
  tally.engine "act"
  tally.loop "A" trips "n" {
    tally.instr "load" on "dma"
    tally.instr "use" on "act"
  }
  tally.dep "load" -> "use" at "A" = 256
}
