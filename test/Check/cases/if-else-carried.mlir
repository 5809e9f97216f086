// RUN: %python %S/../Inputs/check-case.py %s
// RUN: %python %S/../Inputs/deps-case.py %s

// A dependence into the next iteration through both branches of an `if`.
tally.kernel @if_else_carried {
  tally.engine "FIX"
  tally.engine "M"
  tally.engine "MTE1"
  tally.buffer "m0"
  tally.buffer "l"
  tally.buffer "m1"
  tally.buffer "r"
  tally.buffer "acc"
  tally.instr "a0" on "MTE1" reads ["m0"] writes ["l"]
  tally.instr "a1" on "MTE1" reads ["m1"] writes ["r"]
  tally.instr "mm0" on "M" reads ["l", "r"] writes ["acc"]
  tally.instr "f0" on "FIX" reads ["acc"] writes ["m0"]
  tally.loop "i" trips "n" {
    tally.instr "a2" on "MTE1" reads ["m0"] writes ["l"]
    tally.instr "mm1" on "M" reads ["l", "r"] writes ["acc"]
    tally.if "e" {
      tally.instr "f1" on "FIX" reads ["acc"] writes ["m0"]
    } else {
      tally.instr "f2" on "FIX" reads ["acc"] writes ["m0"]
      tally.instr "a3" on "MTE1" reads ["m1"] writes ["r"]
    }
  }
  tally.dep "a1" -> "mm0" raw
  tally.dep "a2" -> "mm1" raw
  tally.dep "f0" -> "a2" raw
  tally.dep "f1" -> "a2" raw at "i" = 1
  tally.dep "f2" -> "a2" raw at "i" = 1
  tally.dep "mm0" -> "f0" raw
  tally.dep "mm1" -> "a3" war
  tally.dep "mm1" -> "f1" raw
  tally.dep "mm1" -> "f2" raw
}
