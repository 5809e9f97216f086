// RUN: %python %S/../Inputs/check-case.py %s
// RUN: %python %S/../Inputs/deps-case.py %s

// Loads that alias, a two-way branch that reads different ones, and a store after it.
tally.kernel @branches_join {
  tally.engine "MTE2"
  tally.engine "MTE3"
  tally.engine "V"
  tally.buffer "G0"
  tally.buffer "X"
  tally.buffer "G1"
  tally.buffer "G2"
  tally.buffer "Y"
  tally.buffer "G3"
  tally.buffer "Z"
  tally.instr "ld0" on "MTE2" reads ["G0"] writes ["X"]
  tally.instr "ld1" on "MTE2" reads ["G1"] writes ["X"]
  tally.instr "ld2" on "MTE2" reads ["G2"] writes ["Y"]
  tally.instr "ld3" on "MTE2" reads ["G3"] writes ["Z"]
  tally.if "c" {
    tally.instr "add_t" on "V" reads ["X", "Y"] writes ["X"]
  } else {
    tally.instr "add_e" on "V" reads ["X", "Z"] writes ["X"]
  }
  tally.instr "st" on "MTE3" reads ["X"] writes ["G3"]
  tally.dep "add_e" -> "st" raw
  tally.dep "add_t" -> "st" raw
  tally.dep "ld2" -> "add_t" raw
  tally.dep "ld3" -> "add_e" raw
  tally.dep "ld3" -> "st" war
}
