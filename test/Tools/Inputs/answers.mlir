// The statistics of all rows are known only after `scalar` has answered, for each row anew.
tally.kernel @answers {
  tally.engine "vector"
  tally.engine "scalar"
  tally.buffer "x" shape [64, 128, 64] type "f32" space "sbuf"
  tally.buffer "s" shape [64, 128] type "f32" space "sbuf"
  tally.buffer "e" shape [64, 128] type "f32" space "sbuf"
  tally.buffer "y" shape [64, 128, 64] type "f32" space "sbuf"
  tally.loop "i" trips 64 {
    tally.instr "sum" on "vector" op "tensor_tensor(n=64)" reads ["x[i, 0:128, 0:64]"] writes ["s[i, 0:128]"]
    tally.instr "exp" on "scalar" op "activation(n=1)" reads ["s[i, 0:128]"] writes ["e[i, 0:128]"]
    tally.instr "scale" on "vector" op "tensor_scalar(n=64)" reads ["x[i, 0:128, 0:64]", "e[i, 0:128]"] writes ["y[i, 0:128, 0:64]"]
  }
}
