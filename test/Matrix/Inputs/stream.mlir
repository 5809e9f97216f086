// Two kernels in one file: a tile is loaded, scaled and stored; by queues of one engine, and of two.
tally.kernel @one_issuer {
  tally.engine "sync" queues ["in" weight 16, "out" weight 16]
  tally.engine "scalar"
  tally.buffer "from" shape [8, 16] type "f32" space "hbm"
  tally.buffer "to" shape [8, 16] type "f32" space "hbm"
  tally.buffer "x" shape [2, 16] type "f32" space "sbuf"
  tally.buffer "y" shape [2, 16] type "f32" space "sbuf"
  tally.loop "i" trips "tiles" min 1 max 8 {
    tally.instr "load" on "in" op "dma_copy(bytes=64)" computes "r0" reads ["from[i, 0:16]"] writes ["x[i mod 2, 0:16]"]
    tally.instr "half" on "scalar" op "activation(n=16)" computes "r0 * 0.5" reads ["x[i mod 2, 0:16]"] writes ["y[i mod 2, 0:16]"]
    tally.instr "store" on "out" op "dma_copy(bytes=64)" computes "r0" reads ["y[i mod 2, 0:16]"] writes ["to[i, 0:16]"]
  }
}
tally.kernel @two_issuers {
  tally.engine "sync" queues ["in" weight 16]
  tally.engine "gpsimd" queues ["out" weight 16 split]
  tally.engine "scalar"
  tally.buffer "from" shape [8, 16] type "f32" space "hbm"
  tally.buffer "to" shape [8, 16] type "f32" space "hbm"
  tally.buffer "x" shape [3, 16] type "f32" space "sbuf"
  tally.loop "i" trips "tiles" min 1 max 8 {
    tally.instr "load" on "in" op "dma_copy(bytes=64)" computes "r0" reads ["from[i, 0:16]"] writes ["x[i mod 3, 0:16]"]
    tally.instr "half" on "scalar" op "activation(n=16)" computes "r0 * 0.5" reads ["x[i mod 3, 0:16]"] writes ["x[i mod 3, 0:16]"]
    tally.instr "store" on "out" op "dma_copy(bytes=64)" computes "r0" reads ["x[i mod 3, 0:16]"] writes ["to[i, 0:16]"]
  }
}
