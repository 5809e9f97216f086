// Each entry of an inner loop has its own trips: very many instances, and each of them has few states.

tally.kernel @small {
  tally.engine "a"
  tally.engine "b"
  tally.loop "i" trips "n" {
    tally.loop "j" trips "m" {
      tally.loop "k" trips "l" {
        tally.instr "p" on "a"
        tally.instr "c" on "b"
      }
    }
  }
  tally.dep "p" -> "c"
}
