// RUN: %python %S/../Inputs/check-case.py %s
// RUN: %python %S/../Inputs/deps-case.py %s

// Two buffers, filled in one inner loop and read in the next.
tally.kernel @fill_and_drain {
  tally.engine "C_MTE2"
  tally.engine "V_MTE3"
  tally.buffer "W1" shape [3]
  tally.buffer "W2" shape [3]
  tally.loop "i" trips "n" {
    tally.loop "a" trips 3 {
      tally.instr "w1" on "V_MTE3" writes ["W1[a]"]
      tally.instr "w2" on "V_MTE3" writes ["W2[a]"]
    }
    tally.loop "b" trips 3 {
      tally.instr "r1" on "C_MTE2" reads ["W1[b]"]
      tally.instr "r2" on "C_MTE2" reads ["W2[b]"]
    }
  }
  tally.dep "r1" -> "w1" war at "i" = 1
  tally.dep "r2" -> "w2" war at "i" = 1
  tally.dep "w1" -> "r1" raw
  tally.dep "w2" -> "r2" raw
}
