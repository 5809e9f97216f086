// Two engines, one loop, one dependence each way.
tally.kernel @chain {
  tally.engine "act"
  tally.engine "dma"
  tally.loop "A" trips "n" max 100 {
    tally.instr "load" on "dma"
    tally.instr "use" on "act"
  }
  tally.dep "load" -> "use" raw
  tally.dep "use" -> "load" war at "A" = 2
}
