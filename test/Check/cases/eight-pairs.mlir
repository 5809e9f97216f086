// RUN: %python %S/../Inputs/check-case.py %s
// RUN: %python %S/../Inputs/deps-case.py %s

// Eight loads and a reader for each: more pairs than some machines have events.
tally.kernel @eight_pairs {
  tally.engine "MTE2"
  tally.engine "S"
  tally.buffer "X0"
  tally.buffer "X1"
  tally.buffer "X2"
  tally.buffer "X3"
  tally.buffer "X4"
  tally.buffer "X5"
  tally.buffer "X6"
  tally.buffer "X7"
  tally.loop "i" trips "n" {
    tally.instr "ld0" on "MTE2" writes ["X0"]
    tally.instr "ld1" on "MTE2" writes ["X1"]
    tally.instr "ld2" on "MTE2" writes ["X2"]
    tally.instr "ld3" on "MTE2" writes ["X3"]
    tally.instr "ld4" on "MTE2" writes ["X4"]
    tally.instr "ld5" on "MTE2" writes ["X5"]
    tally.instr "ld6" on "MTE2" writes ["X6"]
    tally.instr "ld7" on "MTE2" writes ["X7"]
    tally.instr "rd0" on "S" reads ["X0"]
    tally.instr "rd1" on "S" reads ["X1"]
    tally.instr "rd2" on "S" reads ["X2"]
    tally.instr "rd3" on "S" reads ["X3"]
    tally.instr "rd4" on "S" reads ["X4"]
    tally.instr "rd5" on "S" reads ["X5"]
    tally.instr "rd6" on "S" reads ["X6"]
    tally.instr "rd7" on "S" reads ["X7"]
  }
  tally.dep "ld0" -> "rd0" raw
  tally.dep "ld1" -> "rd1" raw
  tally.dep "ld2" -> "rd2" raw
  tally.dep "ld3" -> "rd3" raw
  tally.dep "ld4" -> "rd4" raw
  tally.dep "ld5" -> "rd5" raw
  tally.dep "ld6" -> "rd6" raw
  tally.dep "ld7" -> "rd7" raw
  tally.dep "rd0" -> "ld0" war at "i" = 1
  tally.dep "rd1" -> "ld1" war at "i" = 1
  tally.dep "rd2" -> "ld2" war at "i" = 1
  tally.dep "rd3" -> "ld3" war at "i" = 1
  tally.dep "rd4" -> "ld4" war at "i" = 1
  tally.dep "rd5" -> "ld5" war at "i" = 1
  tally.dep "rd6" -> "ld6" war at "i" = 1
  tally.dep "rd7" -> "ld7" war at "i" = 1
}
