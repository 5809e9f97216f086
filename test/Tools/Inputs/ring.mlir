// Needs ten copies of a counter, or resets.
tally.kernel @ring {
  tally.engine "act"
  tally.engine "dma"
  tally.loop "A" trips "n" {
    tally.loop "B" trips "m" {
      tally.instr "load" on "dma"
    }
    tally.instr "use" on "act"
  }
  tally.dep "load" -> "use" raw at "A" = 10
}
