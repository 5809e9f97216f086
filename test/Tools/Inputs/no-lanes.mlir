tally.kernel @k {
  tally.engine "dma"
  tally.buffer "X" shape [4, 4] partitions dim 2
  tally.buffer "Y" shape [64] partitions first 4064
  tally.buffer "Z" partitions
}
