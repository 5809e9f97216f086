tally.kernel @tied {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [64]
  tally.buffer "Y" shape [64]
  tally.loop "i" trips = "$n" max 32 {
    tally.instr "load" on "dma" writes ["X[i]"]
  }
  tally.loop "j" trips = "$n" {
    tally.instr "use" on "act" reads ["X[$n - 1 - j]"]
    tally.instr "apart" on "act" writes ["X[$n + j]"]
  }
}
