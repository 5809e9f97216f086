// A ring whose slots are left open; every other one is used.
tally.kernel @odd {
  tally.engine "sync"
  tally.engine "vector"
  tally.buffer "X" shape [64, 128, 512] type "f32" space "hbm"
  tally.buffer "Y" shape [64, 128, 512] type "f32" space "hbm"
  tally.buffer "x" shape [2, 128, 512] type "f32" space "sbuf" ring max 4
  tally.loop "A" trips = "$n" max 64 {
    tally.instr "load" on "sync" op "dma_copy(bytes=262144)" reads ["X[A, 0:128, 0:512]"] writes ["x[A mod 2, 0:128, 0:512]"]
    tally.if "odd" when "A mod 2 == 1" {
      tally.instr "use" on "vector" op "tensor_scalar(n=512)" reads ["x[A mod 2, 0:128, 0:512]"] writes ["Y[A, 0:128, 0:512]"]
    }
  }
}
