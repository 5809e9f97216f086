// The next block is loaded while this one is used; the last one has none.
tally.kernel @ahead {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [64, 128] type "f32" space "hbm"
  tally.buffer "Y" shape [64, 128] type "f32" space "hbm"
  tally.buffer "x" shape [2, 128] type "f32" space "sbuf"
  tally.if "any" when "$n > 0" {
    tally.instr "first" on "dma" computes "r0" reads ["X[0, 0:128]"] writes ["x[0, 0:128]"]
  }
  tally.loop "i" trips = "$n" max 64 {
    tally.if "more" when "i < $n - 1" {
      tally.instr "next" on "dma" computes "r0" reads ["X[i + 1, 0:128]"] writes ["x[(i + 1) mod 2, 0:128]"]
    }
    tally.instr "double" on "act" computes "2 * r0" reads ["x[i mod 2, 0:128]"] writes ["Y[i, 0:128]"]
  }
}
