// RUN: %python %S/../Inputs/check-case.py %s
// RUN: %python %S/../Inputs/deps-case.py %s

// Two double buffers that have nothing to do with each other.
tally.kernel @two_rings {
  tally.engine "MTE2"
  tally.engine "MTE3"
  tally.buffer "X" shape [2]
  tally.buffer "Y" shape [2]
  tally.loop "i" trips "n" {
    tally.instr "ldX" on "MTE2" writes ["X[i mod 2]"]
    tally.instr "stX" on "MTE3" reads ["X[i mod 2]"]
    tally.instr "ldY" on "MTE2" writes ["Y[i mod 2]"]
    tally.instr "stY" on "MTE3" reads ["Y[i mod 2]"]
  }
  tally.dep "ldX" -> "stX" raw
  tally.dep "ldY" -> "stY" raw
  tally.dep "stX" -> "ldX" war at "i" = 2
  tally.dep "stY" -> "ldY" war at "i" = 2
}
