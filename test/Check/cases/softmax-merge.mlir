// RUN: %python %S/../Inputs/check-case.py %s
// RUN: %python %S/../Inputs/deps-case.py %s

// The merge of online softmax, whose loop may not run at all.
tally.kernel @softmax_merge {
  tally.engine "MTE2"
  tally.engine "MTE3"
  tally.engine "V"
  tally.buffer "O"
  tally.buffer "MI"
  tally.buffer "LI"
  tally.buffer "T"
  tally.buffer "MI2"
  tally.buffer "LI2"
  tally.buffer "M0"
  tally.buffer "a"
  tally.buffer "b"
  tally.buffer "c"
  tally.buffer "d"
  tally.buffer "e"
  tally.buffer "Q"
  tally.instr "ldO" on "MTE2" writes ["O"]
  tally.instr "ldM" on "MTE2" writes ["MI"]
  tally.instr "ldL" on "MTE2" writes ["LI"]
  tally.loop "i" trips "n" {
    tally.instr "ldT" on "MTE2" writes ["T"]
    tally.instr "ldm" on "MTE2" writes ["MI2"]
    tally.instr "ldl" on "MTE2" writes ["LI2"]
    tally.instr "max" on "V" reads ["MI", "MI2"] writes ["M0"]
    tally.instr "sub1" on "V" reads ["MI", "M0"] writes ["a"]
    tally.instr "exp1" on "V" reads ["a"] writes ["a"]
    tally.instr "sub2" on "V" reads ["MI2", "M0"] writes ["b"]
    tally.instr "exp2" on "V" reads ["b"] writes ["b"]
    tally.instr "mul1" on "V" reads ["a", "LI"] writes ["c"]
    tally.instr "mul2" on "V" reads ["b", "LI2"] writes ["d"]
    tally.instr "add1" on "V" reads ["c", "d"] writes ["c"]
    tally.instr "sc1" on "V" reads ["O", "a"] writes ["e"]
    tally.instr "sc2" on "V" reads ["T", "b"] writes ["T"]
    tally.instr "add2" on "V" reads ["e", "T"] writes ["T"]
    tally.instr "mv1" on "V" reads ["c"] writes ["LI"]
    tally.instr "mv2" on "V" reads ["M0"] writes ["MI"]
    tally.instr "mv3" on "V" reads ["T"] writes ["O"]
  }
  tally.instr "div" on "V" reads ["O", "LI"] writes ["O"]
  tally.instr "cvt" on "V" reads ["O"] writes ["Q"]
  tally.instr "st" on "MTE3" reads ["Q"]
  tally.dep "cvt" -> "st" raw
  tally.dep "ldL" -> "div" raw
  tally.dep "ldl" -> "mul2" raw
  tally.dep "ldm" -> "max" raw
  tally.dep "mv3" -> "ldT" war at "i" = 1
}
