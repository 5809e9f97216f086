// Two that would conflict in iterations that there are not.

tally.kernel @never_touches {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [4]
  tally.loop "A" trips "n" max 4 {
    tally.instr "load" on "dma" writes ["X[A] if A > 5"]
    tally.instr "use" on "act" reads ["X[A] if A > 5"]
  }
}
