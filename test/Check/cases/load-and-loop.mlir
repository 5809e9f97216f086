// RUN: %python %S/../Inputs/check-case.py %s
// RUN: %python %S/../Inputs/deps-case.py %s

// A load before an inner loop that reads it, perhaps never.
tally.kernel @load_and_loop {
  tally.engine "MTE2"
  tally.engine "MTE3"
  tally.buffer "X"
  tally.loop "i" trips "n" {
    tally.instr "ld" on "MTE2" writes ["X"]
    tally.loop "j" trips "m" {
      tally.instr "st" on "MTE3" reads ["X"]
    }
  }
  tally.dep "ld" -> "st" raw
  tally.dep "st" -> "ld" war at "i" = 1
}
