// What `w0` writes is read once, and written over by `w2`.
tally.kernel @written_over {
  tally.engine "a"
  tally.engine "b"
  tally.engine "c"
  tally.buffer "X" shape [4]
  tally.loop "A" trips "n" {
    tally.instr "w0" on "a" writes ["X[0]"]
    tally.instr "r1" on "b" reads ["X[0]"]
    tally.instr "w2" on "c" writes ["X[0]"]
    tally.instr "r3" on "a" reads ["X[0]"]
    tally.instr "other" on "b" reads ["X[2]"]
    tally.instr "silent" on "c"
  }
}
