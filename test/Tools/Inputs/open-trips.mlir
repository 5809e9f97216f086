tally.kernel @open_trips {
  tally.engine "sync"
  tally.engine "vector"
  tally.buffer "x" shape [4, 128, 512] type "f32"
  tally.buffer "y" shape [4, 128, 512] type "f32"
  tally.loop "t" trips "n" max 1000 {
    tally.loop "k" trips "m" min 1 max 40 {
      tally.instr "a" on "sync" writes ["x[k mod 4, 0:128, 0:512]"] op "dma_copy(bytes=262144)"
      tally.instr "b" on "vector" reads ["x[k mod 4, 0:128, 0:512]"] writes ["y[k mod 4, 0:128, 0:512]"] op "tensor_copy(n=512)"
      tally.instr "c" on "sync" reads ["y[k mod 4, 0:128, 0:512]"] op "dma_copy(bytes=262144)"
    }
  }
}
