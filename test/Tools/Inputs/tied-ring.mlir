tally.kernel @ring {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "K" shape [3]
  tally.loop "i" trips = "$n" max 16 {
    tally.loop "j" trips = "i + 1" {
      tally.instr "load" on "dma" writes ["K[total(j) mod 3]"]
      tally.instr "use" on "act" reads ["K[total(j) mod 3]"]
    }
  }
}
