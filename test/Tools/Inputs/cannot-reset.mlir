// Counters may overflow, and engines need not agree on where to reset them.

tally.kernel @cannot_reset {
  tally.engine "dma"
  tally.engine "act"
  tally.loop "i" trips "n" divergent {
    tally.instr "load" on "dma"
    tally.instr "use" on "act"
  }
  tally.dep "load" -> "use" allow_divergent
}
