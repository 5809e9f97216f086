tally.kernel @window {
  tally.engine "dma"
  tally.engine "act"
  tally.value "first" max 48
  tally.buffer "X" shape [64, 128]
  tally.loop "i" trips 16 {
    tally.instr "load" on "dma" writes ["X[$first + i, 0:128]"]
    tally.instr "next" on "act" reads ["X[$first + i + 1, 0:128] if i < 15"]
  }
}
