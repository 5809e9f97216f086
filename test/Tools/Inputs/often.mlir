tally.kernel @often {
  tally.engine "dma" weight 80
  tally.engine "act"
  tally.loop "A" trips 4 {
    tally.instr "load" on "dma"
    tally.instr "use" on "act"
  }
  tally.dep "load" -> "use"
}
