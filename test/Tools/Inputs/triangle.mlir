tally.kernel @triangle {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "K" shape [8, 16]
  tally.buffer "S" shape [16]
  tally.loop "i" trips = "$n" {
    tally.instr "load" on "dma" writes ["K[i, 0:16]"]
    tally.loop "j" trips = "i + 1" {
      tally.instr "dot" on "act" reads ["K[j, 0:16]"] writes ["S"]
    }
  }
}
