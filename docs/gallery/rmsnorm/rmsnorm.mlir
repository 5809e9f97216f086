tally.kernel @rmsnorm {
  tally.engine "vector"
  tally.engine "scalar"
  tally.engine "gpsimd" queues ["gpsimd.dma" weight 16]
  tally.engine "sync" queues ["sync.dma" weight 16]
  tally.buffer "blocks" shape [1, 1] type "i32" space "hbm"
  tally.buffer "number" shape [1, 1] type "i32" space "sbuf"
  tally.buffer "x" shape [512, 512] type "f32" space "hbm"
  tally.buffer "tile" shape [2, 128, 512] type "f32" space "sbuf"
  tally.buffer "square" shape [2, 128, 512] type "f32" space "sbuf"
  tally.buffer "total_" shape [2, 128, 1] type "f32" space "sbuf"
  tally.buffer "mean" shape [2, 128, 1] type "f32" space "sbuf"
  tally.buffer "share" shape [2, 128, 1] type "f32" space "sbuf"
  tally.buffer "result" shape [2, 128, 512] type "f32" space "sbuf"
  tally.buffer "out" shape [512, 512] type "f32" space "hbm"
  tally.instr "dma_copy.14" on "sync.dma" op "dma_copy(bytes=4)" computes "r0" reads ["blocks[0:1, 0:1]"] writes ["number[0:1, 0:1]"]
  tally.instr "register_load.16.vector" on "vector" reads ["number[0:1, 0:1]"] loads ["count"]
  tally.instr "register_load.16.scalar" on "scalar" reads ["number[0:1, 0:1]"] loads ["count"]
  tally.instr "register_load.16.gpsimd" on "gpsimd" reads ["number[0:1, 0:1]"] loads ["count"]
  tally.instr "register_load.16.sync" on "sync" reads ["number[0:1, 0:1]"] loads ["count"]
  tally.loop "i" trips "count" max 4 {
    tally.instr "dma_copy.21" on "sync.dma" op "dma_copy(bytes=262144)" computes "r0" reads ["x[i * 128:128, 0:512]"] writes ["tile[total(i) mod 2, 0:128, 0:512]"]
    tally.instr "activation.25" on "scalar" op "activation(n=512)" computes "square(r0); sum(square(r0))" reads ["tile[total(i) mod 2, 0:128, 0:512]"] writes ["square[total(i) mod 2, 0:128, 0:512]", "total_[total(i) mod 2, 0:128, 0:1]"]
    tally.instr "tensor_scalar.28" on "vector" op "tensor_scalar(n=1)" computes "(r0 * 0.001953125) + 9.999999974752427e-07" reads ["total_[total(i) mod 2, 0:128, 0:1]"] writes ["mean[total(i) mod 2, 0:128, 0:1]"]
    tally.instr "activation.31" on "scalar" op "activation(n=1)" computes "rsqrt(r0)" reads ["mean[total(i) mod 2, 0:128, 0:1]"] writes ["share[total(i) mod 2, 0:128, 0:1]"]
    tally.instr "tensor_scalar.34" on "vector" op "tensor_scalar(n=512)" computes "r0 * r1" reads ["tile[total(i) mod 2, 0:128, 0:512]", "share[total(i) mod 2, 0:128, 0:1]"] writes ["result[total(i) mod 2, 0:128, 0:512]"]
    tally.instr "dma_copy.35" on "gpsimd.dma" op "dma_copy(bytes=262144)" computes "r0" reads ["result[total(i) mod 2, 0:128, 0:512]"] writes ["out[i * 128:128, 0:512]"]
  }
}
