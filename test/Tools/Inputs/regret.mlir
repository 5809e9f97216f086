tally.kernel @k858 {
  tally.engine "sync" weight 16
  tally.engine "tensor" queues ["tensorq" weight 16]
  tally.engine "vector" queues ["vectorq" weight 1]
  tally.engine "gpsimd"
  tally.buffer "H0" shape [64, 4] type "f32" space "hbm"
  tally.buffer "H1" shape [64, 4] type "f32" space "hbm"
  tally.buffer "O0" shape [64, 4] type "f32" space "hbm"
  tally.buffer "x0" shape [2, 4] type "f32" space "sbuf"
  tally.buffer "x1" shape [2, 4] type "f32" space "sbuf"
  tally.loop "L0" trips "n" max 40 {
    tally.instr "st1" on "vector" op "dma_copy(bytes=2048)" computes "r0" reads ["x1[(total(L0) + 1) mod 2, 0:4]"] writes ["O0[L0 mod 64, 0:4]"]
    tally.loop "L1" trips "nL1" max 7 {
      tally.instr "c2" on "vector" op "tensor_scalar(n=512)" computes "r0 * 0.5 + 1" reads ["x0[(L0 + 1) mod 2, 0:4]"] writes ["x1[(L1 + 1) mod 2, 0:4]"]
    }
    tally.instr "ld3" on "tensor" op "dma_copy(bytes=65536)" computes "r0" reads ["H1[L0 mod 64, 0:4]"] writes ["x0[L0 mod 2, 0:4]"]
  }
}
