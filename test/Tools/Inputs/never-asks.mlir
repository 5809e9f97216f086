// A distance of three iterations, of which there are at most three.

tally.kernel @never_asks {
  tally.engine "dma"
  tally.engine "act"
  tally.loop "i" trips "n" max 3 {
    tally.instr "load" on "dma"
    tally.instr "use" on "act"
  }
  tally.dep "use" -> "load" at "i" = 3
}
