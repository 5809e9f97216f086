// The inner loop reads what the outer one has written so far; how far, only the run knows.
tally.kernel @triangle {
  tally.engine "load"
  tally.engine "use" queues ["aside"]
  tally.buffer "K" shape [6]
  tally.loop "i" trips "n" max 6 {
    tally.instr "put" on "load" writes ["K[i]"]
    tally.loop "j" trips "seen" max 6 divergent {
      tally.instr "get" on "aside" reads ["K[j]"]
    }
  }
}
