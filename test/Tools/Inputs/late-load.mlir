// 'scale' should wait for 'load', and does not.
tally.kernel @late {
  tally.engine "act"
  tally.engine "dma" weight 16
  tally.buffer "X" shape [8, 4] type "f32" space "hbm"
  tally.buffer "Y" shape [8, 4] type "f32" space "hbm"
  tally.buffer "x" shape [8, 4] type "f32" space "sbuf"
  tally.loop "A" trips "n" max 8 {
    tally.instr "load" on "dma" op "dma_copy(bytes=4096)" computes "r0" reads ["X[A, 0:4]"] writes ["x[A, 0:4]"]
    tally.instr "scale" on "act" op "activation(n=4)" computes "2 * r0" reads ["x[A, 0:4]"] writes ["Y[A, 0:4]"]
  }
  tally.dep "load" -> "scale" raw
}
tally.code @late {
  tally.program "act" {
    tally.for "A" {
      tally.issue "scale"
    }
  }
  tally.program "dma" {
    tally.for "A" {
      tally.issue "load"
    }
  }
}
