// A double buffer without its 'mod 2': from the third iteration on, its slots are beyond the buffer.

tally.kernel @forgotten {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "in" shape [64, 128] type "bf16" space "hbm"
  tally.buffer "X" shape [2, 128] type "bf16" space "sbuf"

  // Trips have a bound, so this is known without any run.
  tally.loop "i" trips "n" min 1 max 64 {
    tally.instr "load" on "dma" reads ["in[i, 0:128]"] writes ["X[i, 0:128]"]
    tally.instr "scale" on "act" reads ["X[i, 0:128]"]
  }
}
