// A loop of any length, for pages of many pieces.
tally.kernel @many {
  tally.engine "sync" weight 16
  tally.engine "vector"
  tally.engine "gpsimd"
  tally.buffer "in" shape [1000000, 128, 2048] type "f32"
  tally.buffer "x" shape [2, 128, 2048] type "f32" space "sbuf"
  tally.buffer "sum" shape [128, 2048] type "f32" space "sbuf"

  tally.loop "i" trips "n" {
    tally.instr "load" on "sync" op "dma_copy(bytes=1048576)"
      reads ["in[i, 0:128, 0:2048]"] writes ["x[i mod 2, 0:128, 0:2048]"]
    tally.instr "add" on "vector" op "tensor_tensor(n=2048)"
      reads ["x[i mod 2, 0:128, 0:2048]"] accumulates ["sum"]
    tally.instr "store" on "gpsimd" op "dma_copy(bytes=65536)" reads ["x[i mod 2, 0:128, 0:2048]"]
  }
}
