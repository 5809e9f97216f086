// Sums start in the first iteration of K and are stored in the last.
tally.kernel @guarded {
  tally.engine "pe"
  tally.engine "dma"
  tally.buffer "acc" shape [128]
  tally.loop "A" trips "n" {
    tally.loop "K" trips "k" {
      tally.instr "mul" on "pe" writes ["acc if K == 0"] accumulates ["acc if K != 0"]
      tally.instr "store" on "dma" reads ["acc if K == trips(K) - 1"]
    }
  }
}
