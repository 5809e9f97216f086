// Y begins before X ends.
tally.kernel @over {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [128] type "bf16" at 0
  tally.buffer "Y" shape [128] type "bf16" at 255
  tally.instr "load" on "dma" writes ["X"]
  tally.instr "scale" on "act" reads ["Y"]
}
