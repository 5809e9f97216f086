// What is needed of the iteration of L0 before is told by a table.
tally.kernel @nearer {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [16]
  tally.loop "L0" trips 2 {
    tally.loop "L1" trips 2 {
      tally.instr "p" on "dma" writes ["X[L0 + 2:4:2]"]
    }
    tally.loop "L2" trips 3 {
      tally.instr "c" on "act" reads ["X[(-2*L0 + 2*L2 + 1) mod 3]"]
    }
  }
}
