// 'use' reads a row of Y, which lies over a part of one row of X.
tally.kernel @lanes {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [4, 4] type "bf16" space "s" at 0 partitions
  tally.buffer "Y" shape [2, 4] type "bf16" space "s" at 4 partitions first 2
  tally.instr "load" on "dma" writes ["X[2, 0:4]"]
  tally.instr "use" on "act" reads ["Y[0, 0:4]"]
  tally.instr "other" on "act" reads ["Y[1, 0:4]"]
}
