// Two buffers between a transfer and the engine that uses them.
tally.kernel @pipe {
  tally.engine "act"
  tally.engine "dma" weight 16
  tally.loop "A" trips "n" max 100000 {
    tally.instr "load" on "dma" op "copy(bytes=10000)"
    tally.instr "use" on "act" op "compute(n=400)"
  }
  tally.dep "load" -> "use" raw
  tally.dep "use" -> "load" war at "A" = 2
}
