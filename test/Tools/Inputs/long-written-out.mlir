// Loops that take more registers than a small machine has, and more code if they are written out.
tally.kernel @long_written_out {
  tally.engine "dma"
  tally.engine "act"
  tally.loop "A" trips 3 {
    tally.loop "B" trips 400 {
      tally.instr "p" on "dma"
      tally.instr "c" on "act"
    }
  }
  tally.dep "p" -> "c"
  tally.dep "c" -> "p" at "B" = 3
}
