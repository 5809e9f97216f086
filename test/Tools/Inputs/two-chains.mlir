// Two chains of transfers on one engine: the second load need not wait until the first chain is stored.
tally.kernel @chains {
  tally.engine "sync" weight 16
  tally.engine "vector"
  tally.buffer "in" shape [32, 128, 512] type "f32" space "hbm"
  tally.buffer "out" shape [32, 128, 512] type "f32" space "hbm"
  tally.buffer "x" shape [128, 512] type "f32" space "sbuf"
  tally.buffer "y" shape [128, 512] type "f32" space "sbuf"
  tally.loop "A" trips 16 {
    tally.instr "load_x" on "sync" op "dma_copy(bytes=262144)" computes "r0" reads ["in[2*A, 0:128, 0:512]"] writes ["x"]
    tally.instr "scale_x" on "vector" op "tensor_copy(n=512)" computes "2 * r0" reads ["x"] writes ["x"]
    tally.instr "store_x" on "sync" op "dma_copy(bytes=262144)" computes "r0" reads ["x"] writes ["out[2*A, 0:128, 0:512]"]
    tally.instr "load_y" on "sync" op "dma_copy(bytes=262144)" computes "r0" reads ["in[2*A + 1, 0:128, 0:512]"] writes ["y"]
    tally.instr "scale_y" on "vector" op "tensor_copy(n=512)" computes "2 * r0" reads ["y"] writes ["y"]
    tally.instr "store_y" on "sync" op "dma_copy(bytes=262144)" computes "r0" reads ["y"] writes ["out[2*A + 1, 0:128, 0:512]"]
  }
}
