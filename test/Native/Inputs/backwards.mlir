// 'use' should wait for 'load', but it is the other way round.
tally.kernel @backwards {
  tally.engine "act"
  tally.engine "dma"
  tally.buffer "X" shape [1] type "f32"
  tally.buffer "Y" shape [1] type "f32"
  tally.instr "begin" on "act" computes "1" writes ["X"]
  tally.instr "load" on "dma" computes "2" writes ["X"]
  tally.instr "use" on "act" computes "r0" reads ["X"] writes ["Y"]
  tally.dep "begin" -> "load" waw
  tally.dep "load" -> "use" raw
}
tally.code @backwards {
  tally.semaphore "used"
  tally.program "act" {
    tally.issue "begin"
    tally.issue "use" signals "used"
  }
  tally.program "dma" {
    tally.issue "load" waits "used" >= 1
  }
}
