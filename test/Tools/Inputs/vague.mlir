tally.kernel @vague {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [64]
  tally.buffer "Y" shape [64]
  tally.loop "A" trips "n" {
    tally.instr "load" on "dma" writes ["X[$n:4]"]
    tally.instr "use" on "act" reads ["X[A mod 4]"] writes ["Y[A]"]
  }
}
