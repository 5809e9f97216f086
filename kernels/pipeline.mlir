// A loop of three stages, written out as a person does it: what comes before the steady part, where a
// tile is loaded, the one before it scaled, and the one before that stored; and what is left behind.
tally.kernel @pipeline {
  tally.engine "sync" queues ["load" weight 16, "store" weight 16]
  tally.engine "vector"
  tally.value "n" min 3 max 64
  tally.buffer "X" shape [64, 128, 512] type "f32" space "hbm"
  tally.buffer "Y" shape [64, 128, 512] type "f32" space "hbm"
  tally.buffer "x" shape [2, 128, 512] type "f32" space "sbuf"
  tally.buffer "y" shape [2, 128, 512] type "f32" space "sbuf"
  tally.instr "load0" on "load" op "dma_copy(bytes=262144)" reads ["X[0, 0:128, 0:512]"] writes ["x[0, 0:128, 0:512]"]
  tally.instr "load1" on "load" op "dma_copy(bytes=262144)" reads ["X[1, 0:128, 0:512]"] writes ["x[1, 0:128, 0:512]"]
  tally.instr "scale0" on "vector" op "tensor_scalar(n=512)" reads ["x[0, 0:128, 0:512]"] writes ["y[0, 0:128, 0:512]"]
  tally.loop "i" trips = "$n - 2" {
    tally.instr "load" on "load" op "dma_copy(bytes=262144)" reads ["X[i + 2, 0:128, 0:512]"] writes ["x[i mod 2, 0:128, 0:512]"]
    tally.instr "scale" on "vector" op "tensor_scalar(n=512)" reads ["x[(i + 1) mod 2, 0:128, 0:512]"] writes ["y[(i + 1) mod 2, 0:128, 0:512]"]
    tally.instr "store" on "store" op "dma_copy(bytes=262144)" reads ["y[i mod 2, 0:128, 0:512]"] writes ["Y[i, 0:128, 0:512]"]
  }
  tally.instr "scale9" on "vector" op "tensor_scalar(n=512)" reads ["x[($n - 1) mod 2, 0:128, 0:512]"] writes ["y[($n - 1) mod 2, 0:128, 0:512]"]
  tally.instr "store8" on "store" op "dma_copy(bytes=262144)" reads ["y[$n mod 2, 0:128, 0:512]"] writes ["Y[$n - 2, 0:128, 0:512]"]
  tally.instr "store9" on "store" op "dma_copy(bytes=262144)" reads ["y[($n - 1) mod 2, 0:128, 0:512]"] writes ["Y[$n - 1, 0:128, 0:512]"]
}
