// 'load' waits for a slot that is free from the start, and 'use' for what 'load' brings.
tally.kernel @stuck {
  tally.engine "act"
  tally.engine "dma"
  tally.buffer "X" shape [2] type "f32"
  tally.buffer "Y" shape [8] type "f32"
  tally.loop "A" trips "n" max 8 {
    tally.instr "load" on "dma" computes "A" writes ["X[A mod 2]"]
    tally.instr "use" on "act" computes "r0" reads ["X[A mod 2]"] writes ["Y[A]"]
  }
  tally.dep "load" -> "use" raw
  tally.dep "use" -> "load" war at "A" = 2
}
tally.code @stuck {
  tally.semaphore "full"
  tally.semaphore "free"
  tally.program "act" {
    tally.register "r"
    tally.set "r" = 0
    tally.for "A" {
      tally.set "r" = "r" + 1
      tally.issue "use" waits "full" >= "r" signals "free"
    }
  }
  tally.program "dma" {
    tally.register "r"
    tally.set "r" = 0
    tally.for "A" {
      tally.set "r" = "r" + 1
      tally.issue "load" waits "free" >= "r" signals "full"
    }
  }
}
