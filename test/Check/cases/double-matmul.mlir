// RUN: %python %S/../Inputs/check-case.py %s
// RUN: %python %S/../Inputs/deps-case.py %s

// Two products that share an operand; all three operands are double-buffered.
tally.kernel @double_matmul {
  tally.engine "CUBE"
  tally.engine "MTE2"
  tally.buffer "A" shape [2]
  tally.buffer "B" shape [2]
  tally.buffer "D" shape [2]
  tally.buffer "c1"
  tally.buffer "c2"
  tally.loop "i" trips "n" {
    tally.instr "ldA" on "MTE2" writes ["A[i mod 2]"]
    tally.instr "ldB" on "MTE2" writes ["B[i mod 2]"]
    tally.instr "ldD" on "MTE2" writes ["D[i mod 2]"]
    tally.instr "mm1" on "CUBE" reads ["A[i mod 2]", "B[i mod 2]"] writes ["c1"]
    tally.instr "mm2" on "CUBE" reads ["A[i mod 2]", "D[i mod 2]"] writes ["c2"]
  }
  tally.dep "ldB" -> "mm1" raw
  tally.dep "ldD" -> "mm2" raw
  tally.dep "mm2" -> "ldA" war at "i" = 2
}
