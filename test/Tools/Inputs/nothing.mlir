// Neither what is accessed is said, nor what depends on what.

tally.kernel @nothing {
  tally.engine "dma"
  tally.engine "act"
  tally.loop "i" trips "n" max 4 {
    tally.instr "load" on "dma"
    tally.instr "use" on "act"
  }
}
