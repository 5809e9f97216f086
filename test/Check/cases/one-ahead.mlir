// RUN: %python %S/../Inputs/check-case.py %s
// RUN: %python %S/../Inputs/deps-case.py %s

// The producer writes one slot ahead, so that one iteration's pair is disjoint.
tally.kernel @one_ahead {
  tally.engine "MTE2"
  tally.engine "MTE3"
  tally.buffer "X" shape [2]
  tally.loop "i" trips "n" {
    tally.instr "ld" on "MTE2" writes ["X[(i + 1) mod 2]"]
    tally.instr "st" on "MTE3" reads ["X[i mod 2]"]
  }
  tally.dep "ld" -> "st" raw at "i" = 1
  tally.dep "st" -> "ld" war at "i" = 1
}
