// Three loops go through the same rows. Those of equal trips write over what was there before.
tally.kernel @rows_in_turn {
  tally.engine "dma"
  tally.engine "pe"
  tally.engine "act"
  tally.buffer "X" shape [9]
  tally.loop "A" trips 8 {
    tally.instr "load" on "dma" writes ["X[A]"]
  }
  tally.loop "B" trips 8 {
    tally.instr "scale" on "act" reads ["X[B]"] writes ["X[B]"]
  }
  tally.loop "C" trips 8 {
    tally.instr "dot" on "pe" reads ["X[C]"]
    tally.instr "next" on "pe" reads ["X[C + 1]"]
  }
}
