tally.kernel @heavy {
  tally.engine "dma" weight 200
  tally.engine "act"
  tally.instr "left" on "dma"
  tally.instr "right" on "dma"
  tally.instr "add" on "act"
  tally.dep "left" -> "add"
  tally.dep "right" -> "add"
}
