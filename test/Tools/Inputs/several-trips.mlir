tally.kernel @several {
  tally.engine "e"
  tally.loop "A" trips "n" max 4 {
    tally.instr "a" on "e"
  }
  tally.loop "B" trips "m" {
    tally.instr "b" on "e"
  }
  tally.loop "C" trips "k" {
    tally.instr "c" on "e"
  }
  tally.loop "D" trips "k" min 1 {
    tally.if "often" {
      tally.instr "d" on "e"
    }
  }
}
