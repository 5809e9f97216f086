tally.kernel @dear {
  tally.engine "vector"
  tally.engine "scalar"
  tally.engine "gpsimd"
  tally.buffer "x" shape [5, 128, 32] type "f32"
  tally.buffer "y" shape [5, 128, 32] type "f32"
  tally.loop "t" trips "n" min 1 max 1000 {
    tally.loop "i" trips 6 {
      tally.instr "a" on "vector" writes ["x[(t + 2*i) mod 5, 0:128, 0:32]"] op "tensor_copy(n=32)"
      tally.instr "b" on "scalar" reads ["x[(t + i) mod 5, 0:128, 0:32]"] writes ["y[(i + t) mod 5, 0:128, 0:32]"] op "activation(n=32)"
    }
    tally.loop "j" trips 6 {
      tally.instr "c" on "gpsimd" reads ["y[(j + 2*t) mod 5, 0:128, 0:32]"] writes ["x[j mod 5, 0:128, 0:32]"] op "tensor_copy(n=32)"
    }
  }
}
