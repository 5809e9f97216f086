// Nobody knows whether they share memory.
tally.kernel @unknown {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [128]
  tally.buffer "Y" shape [128] alias ["X"]
  tally.instr "load" on "dma" writes ["X[0:64]"]
  tally.instr "other" on "dma" reads ["X[64:64]"]
  tally.instr "scale" on "act" reads ["Y"]
}
