// Y begins before X ends; the first half of X is apart.
tally.kernel @over {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [128] type "bf16" at 0
  tally.buffer "Y" shape [128] type "bf16" at 254
  tally.instr "first" on "dma" writes ["X[0:64]"]
  tally.instr "load" on "dma" writes ["X[64:64]"]
  tally.instr "scale" on "act" reads ["Y"]
}
