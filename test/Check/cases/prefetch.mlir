// RUN: %python %S/../Inputs/check-case.py %s
// RUN: %python %S/../Inputs/deps-case.py %s

// A double buffer whose first slot is loaded before the loop.
tally.kernel @prefetch {
  tally.engine "MTE2"
  tally.engine "V"
  tally.buffer "X" shape [2]
  tally.buffer "s"
  tally.instr "pre" on "MTE2" writes ["X[0]"]
  tally.loop "i" trips "n" {
    tally.instr "ld" on "MTE2" writes ["X[(i + 1) mod 2]"]
    tally.instr "add" on "V" reads ["X[i mod 2]"] writes ["s"]
  }
  tally.dep "add" -> "ld" war at "i" = 1
  tally.dep "ld" -> "add" raw at "i" = 1
  tally.dep "pre" -> "add" raw
}
