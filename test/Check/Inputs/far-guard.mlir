tally.kernel @beyond {
  tally.engine "d"
  tally.engine "a"
  tally.buffer "X" shape [8]
  tally.loop "A" trips "n" max 65536 {
    tally.instr "w" on "d" writes ["X[0] if A == 20000"]
    tally.instr "r" on "a" reads ["X[0]"]
  }
  tally.dep "r" -> "r" at "A" = 1
}
