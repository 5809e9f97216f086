tally.kernel @no_code {
  tally.engine "a"
  tally.engine "b"
  tally.buffer "X" shape [8] type "f32"
  tally.buffer "Y" shape [8] type "f32"
  tally.loop "A" trips "n" max 4 {
    tally.instr "silent" on "a" writes ["X"]
    tally.instr "varying" on "b" computes "r0" reads ["X[0:A + 1]"] writes ["Y[0:A + 1]"]
    tally.instr "unlike" on "b" computes "matmul(r0, r0)" reads ["X"] writes ["Y"]
    tally.instr "unkept" on "b" computes "kept" writes ["Y"]
  }
}
