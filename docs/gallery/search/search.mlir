// Newton's method until it has converged: after each step the run decides whether there is one
// more, so the number of steps is not known before. The start is loaded before the loop, and the
// result is stored after it.
tally.kernel @search {
  tally.engine "sync" queues ["in" weight 16, "out" weight 16]
  tally.engine "vector"
  tally.engine "scalar"
  tally.buffer "x" shape [128, 512] type "f32" space "sbuf"
  tally.buffer "slope" shape [128, 512] type "f32" space "sbuf"
  tally.buffer "error" shape [128, 512] type "f32" space "sbuf"

  tally.instr "load" on "in" op "dma_copy(bytes=262144)" writes ["x"]
  tally.loop "step" while "more" {
    tally.instr "derive" on "scalar" op "activation(n=512)" reads ["x"] writes ["slope"]
    tally.instr "measure" on "vector" op "tensor_scalar(n=512)" reads ["x"] writes ["error"]
    tally.instr "improve" on "vector" op "tensor_tensor(n=512)"
      reads ["x", "error", "slope"] writes ["x"]
  }
  tally.instr "store" on "out" op "dma_copy(bytes=262144)" reads ["x"]
}
