tally.kernel @once {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "x"
  tally.instr "load" on "dma" writes ["x"]
  tally.instr "use" on "act" reads ["x"]
}
tally.code @once {
  tally.semaphore "s"
  tally.program "dma" {
    tally.issue "load" waits "s" >= 1
  }
  tally.program "act" {
    tally.issue "use" signals "s"
  }
}
