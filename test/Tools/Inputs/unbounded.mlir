// How many rows there are is not said, so only a run tells whether all are in the buffer.

tally.kernel @unbounded {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "in" shape [64, 128] type "bf16" space "hbm"
  tally.buffer "X" shape [2, 128] type "bf16" space "sbuf"
  tally.loop "i" trips "n" {
    tally.instr "load" on "dma" reads ["in[i, 0:128]"] writes ["X[i mod 2, 0:128]"]
    tally.instr "scale" on "act" reads ["X[i mod 2, 0:128]"]
  }
}
