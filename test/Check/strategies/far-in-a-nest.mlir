// RUN: %python %S/../Inputs/every-strategy.py %source_dir %s bits=8 subtraction=wraps compare=signed

// The loop never runs as often as the distance asks. What is subtracted all the same, 4 * 3 runs of weight 16, is more than
// half of what 8 bits hold.

// REFUSED unrolled: counts queue 'dma' up to 144

tally.kernel @far_in_a_nest {
  tally.engine "dma" weight 16
  tally.engine "act"
  tally.loop "A" trips 3 {
    tally.instr "use" on "act"
    tally.loop "B" trips 3 {
      tally.instr "load" on "dma"
    }
  }
  tally.dep "load" -> "use" at "A" = 4
}
