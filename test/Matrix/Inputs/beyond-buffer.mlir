// The tile of "w" leaves its buffer, and would reach into the next one.
tally.kernel @beyond_buffer {
  tally.engine "a"
  tally.engine "b"
  tally.buffer "P" shape [4] type "f32" space "s" at 0
  tally.buffer "Q" shape [4] type "f32" space "s" at 16
  tally.loop "i" trips "n" max 5 {
    tally.instr "w" on "a" writes ["P[3:3]"]
    tally.instr "r" on "b" reads ["Q[1]"]
  }
}
