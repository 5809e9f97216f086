// 'scale' reads a slot that 'load' fills again two iterations later, and nothing says so.
tally.kernel @ring {
  tally.engine "act"
  tally.engine "dma"
  tally.buffer "X" shape [2, 64] type "bf16"
  tally.loop "A" trips "n" max 1000 {
    tally.instr "load" on "dma" writes ["X[A mod 2, 0:64]"]
    tally.instr "scale" on "act" reads ["X[A mod 2, 0:64]"]
  }
  tally.dep "load" -> "scale" raw
}
