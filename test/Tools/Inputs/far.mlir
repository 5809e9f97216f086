tally.kernel @far {
  tally.engine "dma"
  tally.engine "use"
  tally.loop "S" trips "s" {
    tally.instr "load" on "dma"
    tally.instr "use" on "use"
  }
  tally.dep "load" -> "use" at "S" = 256
}
