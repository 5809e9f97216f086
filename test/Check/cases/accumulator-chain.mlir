// RUN: %python %S/../Inputs/check-case.py %s
// RUN: %python %S/../Inputs/deps-case.py %s

// No loop: a chain that uses its accumulator twice.
tally.kernel @accumulator_chain {
  tally.engine "FIX"
  tally.engine "M"
  tally.engine "MTE2"
  tally.buffer "P"
  tally.buffer "Q"
  tally.buffer "c"
  tally.buffer "G"
  tally.instr "ld0" on "MTE2" writes ["P"]
  tally.instr "ld1" on "MTE2" writes ["Q"]
  tally.instr "mm1" on "M" reads ["P", "Q"] writes ["c"]
  tally.instr "fx1" on "FIX" reads ["c"] writes ["G"]
  tally.instr "mm2" on "M" reads ["Q"] writes ["c"]
  tally.instr "fx2" on "FIX" reads ["c"] writes ["G"]
  tally.dep "fx1" -> "mm2" war
  tally.dep "ld1" -> "mm1" raw
  tally.dep "mm1" -> "fx1" raw
  tally.dep "mm2" -> "fx2" raw
}
