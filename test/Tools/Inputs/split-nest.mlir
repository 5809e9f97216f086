tally.kernel @split_nest {
  tally.engine "dma" weight 16 split
  tally.engine "act"
  tally.loop "O" trips "o" {
    tally.loop "I" trips "i" {
      tally.instr "load" on "dma"
      tally.instr "use" on "act"
    }
  }
  tally.dep "load" -> "use"
  tally.dep "use" -> "load" at "I" = 1
}
