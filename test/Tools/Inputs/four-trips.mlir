// Strategy auto counts four more for each iteration of A, instead of running B to count.
tally.kernel @inner {
  tally.engine "e"
  tally.engine "f"
  tally.loop "A" trips "n" max 1000 {
    tally.loop "B" trips 4 {
      tally.instr "make" on "e"
    }
    tally.instr "use" on "f"
  }
  tally.dep "make" -> "use"
}
