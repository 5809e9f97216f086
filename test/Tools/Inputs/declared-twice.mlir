tally.kernel @k {
  tally.engine "act"
  tally.value "n" max 5
  tally.value "m" min 5
  tally.value "n" max 6
  tally.buffer "X" shape [8]
  tally.loop "i" trips = "$m" max 4 {
    tally.instr "a" on "act" writes ["X[i]"]
  }
}
