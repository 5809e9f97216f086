tally.kernel @pinned reserves [0, 1] {
  tally.engine "scalar" reserves [0]
  tally.engine "sync" weight 16
  tally.loop "A" trips "n" max 1000 {
    tally.instr "load" on "sync" semaphore 7
    tally.instr "scale" on "scalar"
  }
  tally.dep "load" -> "scale"
  tally.dep "scale" -> "load" at "A" = 2
}
