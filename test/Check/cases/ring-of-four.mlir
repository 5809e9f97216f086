// RUN: %python %S/../Inputs/check-case.py %s
// RUN: %python %S/../Inputs/deps-case.py %s

// A vector addition in place, in a ring of four slots.
tally.kernel @ring_of_four {
  tally.engine "MTE2"
  tally.engine "MTE3"
  tally.engine "V"
  tally.buffer "A" shape [4]
  tally.buffer "B" shape [4]
  tally.loop "i" trips "n" {
    tally.instr "ldA" on "MTE2" writes ["A[i mod 4]"]
    tally.instr "ldB" on "MTE2" writes ["B[i mod 4]"]
    tally.instr "add" on "V" reads ["A[i mod 4]", "B[i mod 4]"] writes ["A[i mod 4]"]
    tally.instr "st" on "MTE3" reads ["A[i mod 4]"]
  }
  tally.dep "add" -> "st" raw
  tally.dep "ldB" -> "add" raw
  tally.dep "st" -> "ldA" war at "i" = 4
}
