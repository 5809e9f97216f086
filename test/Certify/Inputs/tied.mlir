tally.kernel @tied {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [1]
  tally.loop "i" trips = "$n" max 4 {
    tally.loop "j" trips = "i - i" {
      tally.instr "p" on "dma" writes ["X[0]"]
      tally.instr "c" on "act" reads ["X[0]"]
    }
  }
  // dep
}
