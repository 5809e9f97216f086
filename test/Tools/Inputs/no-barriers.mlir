// Barriers cannot do this one, as engines may disagree about B.
tally.kernel @div {
  tally.engine "e0"
  tally.engine "e1"
  tally.loop "A" trips "n" max 10 {
    tally.loop "B" trips "m" max 5 divergent {
      tally.instr "P" on "e0"
    }
    tally.instr "C" on "e1"
  }
  tally.dep "P" -> "C" allow_divergent
}
