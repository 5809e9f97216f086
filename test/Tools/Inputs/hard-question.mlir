// Whether two runs meet takes more work than tally spends on a question.

tally.kernel @hard {
  tally.engine "e"
  tally.buffer "X" shape [100000]
  tally.loop "A" while "more" {
    tally.if "c" {
      tally.loop "B" trips "n" max 800 {
        tally.instr "w" on "e" writes ["X[(40 + (1 - 2*B) mod 7 + B + (3 - B) mod 7):4:3] if ((9 + (3*B + 1) floordiv 5) floordiv 2) == 20 - 2*trips(B) + 2*B + total(c)"]
      }
    }
  }
}
