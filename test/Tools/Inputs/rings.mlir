// Rings of two and of three slots in one buffer; and a ring that each run of B begins at slot 0.
tally.kernel @rings {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [3]
  tally.buffer "Y" shape [2]
  tally.loop "A" trips "n" {
    tally.instr "load" on "dma" writes ["X[A mod 2]"]
    tally.instr "use" on "act" reads ["X[A mod 3]"]
    tally.loop "B" trips "m" {
      tally.instr "fill" on "dma" writes ["Y[B mod 2]"]
      tally.instr "drain" on "act" reads ["Y[B mod 2]"]
    }
  }
}
