// One engine issues loads and stores; a load stands behind a store.
tally.kernel @order {
  tally.engine "sync"
  tally.engine "vector"
  tally.buffer "X" shape [64, 128, 512] type "f32" space "hbm"
  tally.buffer "Z" shape [64, 128, 512] type "f32" space "hbm"
  tally.buffer "Y" shape [64, 128, 512] type "f32" space "hbm"
  tally.buffer "x" shape [2, 128, 512] type "f32" space "sbuf"
  tally.buffer "z" shape [2, 128, 512] type "f32" space "sbuf"
  tally.buffer "y" shape [2, 128, 512] type "f32" space "sbuf"
  tally.loop "A" trips 64 {
    tally.instr "load" on "sync" op "dma_copy(bytes=262144)" reads ["X[A, 0:128, 0:512]"] writes ["x[A mod 2, 0:128, 0:512]"]
    tally.instr "scale" on "vector" op "tensor_scalar(n=512)" reads ["x[A mod 2, 0:128, 0:512]"] writes ["y[A mod 2, 0:128, 0:512]"]
    tally.instr "store" on "sync" op "dma_copy(bytes=262144)" reads ["y[A mod 2, 0:128, 0:512]"] writes ["Y[A, 0:128, 0:512]"]
    tally.instr "second" on "sync" op "dma_copy(bytes=262144)" reads ["Z[A, 0:128, 0:512]"] writes ["z[A mod 2, 0:128, 0:512]"]
    tally.instr "double" on "vector" op "tensor_scalar(n=512)" reads ["z[A mod 2, 0:128, 0:512]"] writes ["y[A mod 2, 0:128, 0:512]"]
    tally.instr "put" on "sync" op "dma_copy(bytes=262144)" reads ["y[A mod 2, 0:128, 0:512]"] writes ["Y[A, 0:128, 0:512]"]
  }
}
