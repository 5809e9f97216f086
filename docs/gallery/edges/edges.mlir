// A loop whose trips only the run knows, with an edge into it and an edge out of it: the scale is
// loaded before the loop, and the sum is stored after it. The loop may not run at all.
tally.kernel @edges {
  tally.engine "sync" queues ["in" weight 16, "out" weight 16]
  tally.engine "vector"
  tally.buffer "x" shape [2, 128, 512] type "f32" space "sbuf"
  tally.buffer "scale" shape [128, 1] type "f32" space "sbuf"
  tally.buffer "sum" shape [128, 512] type "f32" space "sbuf"

  tally.instr "clear" on "vector" op "memset(n=512)" writes ["sum"]
  tally.instr "load_scale" on "in" op "dma_copy(bytes=512)" writes ["scale"]
  tally.loop "i" trips "n" max 4096 {
    tally.instr "load" on "in" op "dma_copy(bytes=262144)" writes ["x[i mod 2, 0:128, 0:512]"]
    tally.instr "add" on "vector" op "scalar_tensor_tensor(n=512)"
      reads ["x[i mod 2, 0:128, 0:512]", "scale"] accumulates ["sum"]
  }
  tally.instr "store" on "out" op "dma_copy(bytes=262144)" reads ["sum"]
}
