// RUN: %python %S/../Inputs/check-case.py %s
// RUN: %python %S/../Inputs/deps-case.py %s

// One buffer, filled and emptied in an inner loop under a branch, and again after it.
tally.kernel @nested_if {
  tally.engine "MTE2"
  tally.engine "MTE3"
  tally.buffer "G0"
  tally.buffer "X"
  tally.buffer "G1"
  tally.buffer "G2"
  tally.loop "i" trips "n" {
    tally.loop "j" trips "m" {
      tally.if "c" {
        tally.instr "ld_in" on "MTE2" reads ["G0"] writes ["X"]
        tally.instr "st_in" on "MTE3" reads ["X"] writes ["G1"]
      }
    }
    tally.instr "ld_out" on "MTE2" reads ["G1"] writes ["X"]
    tally.instr "st_out" on "MTE3" reads ["X"] writes ["G2"]
  }
  tally.dep "ld_in" -> "st_in" raw
  tally.dep "ld_out" -> "st_out" raw
  tally.dep "st_in" -> "ld_in" war at "j" = 1
  tally.dep "st_in" -> "ld_out" raw
  tally.dep "st_out" -> "ld_in" war at "i" = 1
  tally.dep "st_out" -> "ld_out" war at "i" = 1
}
