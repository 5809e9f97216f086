// Says what instructions touch, and leaves the dependences to be found.
tally.kernel @accesses {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [2, 128]
  tally.buffer "Y" shape [128]
  tally.loop "A" trips "n" {
    tally.instr "load" on "dma" writes ["X[A mod 2, 0:128]"]
    tally.instr "scale" on "act" reads ["X[A mod 2, 0:128]"] writes ["Y"]
    tally.instr "store" on "dma" reads ["Y"]
  }
}
