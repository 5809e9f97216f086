// One engine issues loads and stores, and rings have two slots.
tally.kernel @pipe {
  tally.engine "sync"
  tally.engine "vector"
  tally.buffer "X" shape [64, 128, 512] type "f32" space "hbm"
  tally.buffer "Y" shape [64, 128, 512] type "f32" space "hbm"
  tally.buffer "x" shape [2, 128, 512] type "f32" space "sbuf"
  tally.buffer "y" shape [2, 128, 512] type "f32" space "sbuf"
  tally.loop "A" trips 64 {
    tally.instr "load" on "sync" op "dma_copy(bytes=262144)" computes "r0" reads ["X[A, 0:128, 0:512]"] writes ["x[A mod 2, 0:128, 0:512]"]
    tally.instr "scale" on "vector" op "tensor_scalar(n=512)" computes "2 * r0" reads ["x[A mod 2, 0:128, 0:512]"] writes ["y[A mod 2, 0:128, 0:512]"]
    tally.instr "store" on "sync" op "dma_copy(bytes=262144)" computes "r0" reads ["y[A mod 2, 0:128, 0:512]"] writes ["Y[A, 0:128, 0:512]"]
  }
}
