// Only the fourth iteration has anything to wait for.
tally.kernel @fourth {
  tally.engine "e0"
  tally.engine "e1"
  tally.buffer "X" shape [8] type "f32" space "hbm"
  tally.loop "i" trips = "$n" max 8 {
    tally.if "c" when "i == 3 or i == 5" {
      tally.instr "a" on "e0" writes ["X[0]"]
      tally.instr "b" on "e1" reads ["X[0]"]
    } else {
      tally.instr "d" on "e1" reads ["X[1]"]
    }
  }
}
