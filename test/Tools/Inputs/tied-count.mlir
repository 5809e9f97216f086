tally.kernel @count {
  tally.engine "a"
  tally.engine "b"
  tally.buffer "X" shape [10]
  tally.loop "i" trips 4 {
    tally.loop "j" trips = "i + 1" {
      tally.instr "w" on "a" writes ["X[total(j)]"]
      tally.instr "r" on "b" reads ["X[total(j)]"]
    }
  }
}
