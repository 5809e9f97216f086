tally.kernel @handoff {
  tally.engine "sync" weight 16
  tally.engine "vector"
  tally.buffer "x" shape [128, 512] type "f32" space "sbuf"
  tally.instr "load" on "sync" op "dma_copy(bytes=262144)" writes ["x"]
  tally.instr "scale" on "vector" op "tensor_scalar(n=512)" reads ["x"] writes ["x"]
}
