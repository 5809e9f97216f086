// RUN: %python %S/../Inputs/check-case.py %s
// RUN: %python %S/../Inputs/deps-case.py %s

// A token passed in an inner loop, from one trip of it to the next, and on after the nest.
// The write after read from one trip of "i" to the next crosses trips of "j" of any number; counted
// in runs it is at distance 1, and so is the one inside a trip.
tally.kernel @nest_and_after {
  tally.engine "E1"
  tally.engine "E2"
  tally.engine "E3"
  tally.buffer "B"
  tally.buffer "B2"
  tally.loop "i" trips "n" {
    tally.loop "j" trips "m" {
      tally.instr "w" on "E1" writes ["B"]
      tally.instr "x" on "E2" reads ["B"] writes ["B2"]
    }
  }
  tally.instr "y" on "E3" reads ["B2"]
  tally.dep "w" -> "x" raw
  tally.dep "x" -> "w" war flat 1
  tally.dep "x" -> "y" raw
}
