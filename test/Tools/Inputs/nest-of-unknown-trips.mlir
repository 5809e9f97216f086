tally.kernel @unknown {
  tally.engine "dma"
  tally.engine "act"
  tally.loop "B" trips 5 {
    tally.loop "C" trips "n" {
      tally.instr "p" on "dma"
    }
  }
  tally.loop "D" trips 4 {
    tally.instr "c" on "act"
  }
  tally.dep "p" -> "c" element 0
}
