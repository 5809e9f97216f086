tally.kernel @double_buffer {
  tally.engine "act"
  tally.engine "dma"
  tally.loop "A" trips "n" min 0 max 1000000 {
    tally.instr "load" on "dma" writes ["X[A mod 2, 0:128]"]
    tally.instr "scale" on "act" reads ["X[A mod 2, 0:128]"]
    tally.instr "bias" on "act" reads ["X[A mod 2, 0:128]"]
  }
  tally.buffer "X" shape [2, 128] type "bf16"
  tally.dep "load" -> "scale" raw
  tally.dep "bias" -> "load" war at "A" = 2
}
