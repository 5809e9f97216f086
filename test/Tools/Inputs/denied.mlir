// Two buffers at one address, of which one says that they share nothing.

tally.kernel @denied {
  tally.engine "a"
  tally.engine "b"
  tally.buffer "X" shape [4] type "f32" space "s" at 0
  tally.buffer "Y" shape [4] type "f32" space "s" at 8 noalias ["X"]
  tally.instr "i" on "a" writes ["X[2:2]"]
  tally.instr "j" on "b" writes ["Y[0]"]
}
