// Two phases that share memory, as a stack allocator gives it out: what the first one leaves, y, lies
// below; x and t of the first and z of the second lie over one another above it.
tally.kernel @stack {
  tally.engine "sync" queues ["load" weight 16, "store" weight 16]
  tally.engine "vector"
  tally.buffer "X" shape [64, 128, 512] type "f32" space "hbm"
  tally.buffer "Z" shape [64, 128, 512] type "f32" space "hbm"
  tally.buffer "y" shape [128, 512] type "f32" space "sbuf" at 0 partitions
  tally.buffer "x" shape [2, 128, 512] type "f32" space "sbuf" at 2048 partitions dim 1
  tally.buffer "t" shape [128, 512] type "f32" space "sbuf" at 6144 partitions
  tally.buffer "z" shape [2, 128, 512] type "f32" space "sbuf" at 4096 partitions dim 1
  tally.loop "i" trips 64 {
    tally.instr "fetch" on "load" op "dma_copy(bytes=262144)" reads ["X[i, 0:128, 0:512]"] writes ["x[i mod 2, 0:128, 0:512]"]
    tally.instr "square" on "vector" op "tensor_tensor(n=512)" reads ["x[i mod 2, 0:128, 0:512]"] writes ["t"]
    tally.instr "add" on "vector" op "tensor_tensor(n=512)" reads ["t", "y"] writes ["y"]
  }
  tally.loop "j" trips 64 {
    tally.instr "scale" on "vector" op "tensor_scalar(n=512)" reads ["y"] writes ["z[j mod 2, 0:128, 0:512]"]
    tally.instr "put" on "store" op "dma_copy(bytes=262144)" reads ["z[j mod 2, 0:128, 0:512]"] writes ["Z[j, 0:128, 0:512]"]
  }
}
