// Tiles at run-time values, and tiles that engines may count differently; two instructions that conflict in three tiles.

tally.kernel @not_known {
  tally.engine "a"
  tally.engine "b"
  tally.buffer "X" shape [64]
  tally.buffer "Y" shape [64]
  tally.loop "i" trips "n" max 10 {
    tally.instr "store" on "a" writes ["Y[i]", "Y[40]", "Y[i + 1]"]
    tally.instr "load" on "b" reads ["Y[i]", "Y[40]", "X[0]"]
    tally.instr "put" on "a" writes ["X[i + $p]"]
    tally.instr "get" on "b" reads ["X[$p + 3]"]
  }
  tally.loop "j" trips "m" max 10 {
    tally.if "c" divergent {
      tally.instr "count" on "a" writes ["Y[total(c) mod 4]"]
    }
    tally.instr "all" on "b" reads ["Y"]
  }
}
