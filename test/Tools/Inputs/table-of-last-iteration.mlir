// What is needed of the iteration of L0 before is told by a table.
tally.kernel @nearer {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [16]
  tally.loop "L0" trips "n" {
    tally.loop "L1" trips 4 {
      tally.instr "p" on "dma" writes ["X[4 * (L0 mod 2) + L1]"]
    }
    tally.loop "L2" trips 2 {
      tally.instr "c" on "act" reads ["X[4 * ((L0 + 1) mod 2) + 2 * L2 : 2]"]
    }
  }
}
