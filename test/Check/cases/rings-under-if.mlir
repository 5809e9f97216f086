// RUN: %python %S/../Inputs/check-case.py %s
// RUN: %python %S/../Inputs/deps-case.py %s

// Rings of one to three slots in two memories, under a branch and a branch in it. "st10" -> "ld0" is
// implied by "st11" -> "ld0" only in iterations that take the inner branch.
tally.kernel @rings_under_if {
  tally.engine "MTE2"
  tally.engine "MTE3"
  tally.buffer "G" shape [5]
  tally.buffer "U" shape [5]
  tally.loop "i" trips "n" {
    tally.if "p" {
      tally.instr "ld0" on "MTE2" reads ["G[0 + 3*(i mod 3) - 5*((i mod 3) floordiv 2)]"] writes ["U[1 - i mod 2]"]
      tally.instr "st1" on "MTE3" reads ["U[2 - i mod 2]"] writes ["G[1]"]
      tally.instr "st2" on "MTE3" reads ["U[1 + 3*(i mod 2)]"] writes ["G[1 + 2*(i mod 3) - 5*((i mod 3) floordiv 2)]"]
      tally.instr "ld3" on "MTE2" reads ["G[1 + 2*(i mod 3) - 3*((i mod 3) floordiv 2)]"] writes ["U[i mod 2]"]
      tally.instr "st4" on "MTE3" reads ["U[1]"] writes ["G[4*(i mod 2)]"]
      tally.instr "st5" on "MTE3" reads ["U[2 + 2*(i mod 2)]"] writes ["G[2 + i mod 3 - 4*((i mod 3) floordiv 2)]"]
      tally.instr "st6" on "MTE3" reads ["U[2 - 2*(i mod 3) + 6*((i mod 3) floordiv 2)]"] writes ["G[1 + 2*(i mod 3) - 5*((i mod 3) floordiv 2)]"]
      tally.instr "ld7" on "MTE2" reads ["G[1 - i mod 3 + 5*((i mod 3) floordiv 2)]"] writes ["U[3*(i mod 2)]"]
      tally.instr "st8" on "MTE3" reads ["U[2 + i mod 3]"] writes ["G[3 + i mod 2]"]
      tally.instr "ld9" on "MTE2" reads ["G[3]"] writes ["U[2 - i mod 3 + 4*((i mod 3) floordiv 2)]"]
      tally.instr "st10" on "MTE3" reads ["U[2 + i mod 3]"] writes ["G[2 + i mod 3]"]
      tally.if "q" {
        tally.instr "st11" on "MTE3" reads ["U[1 + i mod 2]"] writes ["G[2]"]
      }
    }
  }
  tally.dep "ld0" -> "st1" war
  tally.dep "ld3" -> "st4" raw
  tally.dep "ld7" -> "st8" raw
  tally.dep "ld9" -> "st10" raw
  tally.dep "st11" -> "ld0" war at "i" = 2
  tally.dep "st10" -> "ld0" raw at "i" = 3
  tally.dep "st2" -> "ld3" raw
  tally.dep "st6" -> "ld7" raw
  tally.dep "st8" -> "ld9" raw
}
