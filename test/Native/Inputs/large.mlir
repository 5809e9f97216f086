tally.kernel @large {
  tally.engine "a"
  tally.buffer "x" shape [4294967296] type "f32"
  tally.instr "begin" on "a" computes "0" writes ["x[0]"]
}
