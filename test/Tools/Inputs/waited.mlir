// The same with the wait that its accesses ask for, and without semaphores where none are asked for.

tally.kernel @waited {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [4]
  tally.loop "i" trips "n" max 4 {
    tally.instr "load" on "dma" writes ["X[i]"]
    tally.instr "use" on "act" reads ["X[i]"]
  }
}

tally.code @waited {
  tally.semaphore "full"
  tally.program "dma" {
    tally.for "i" {
      tally.issue "load" signals "full"
    }
  }
  tally.program "act" {
    tally.register "r"
    tally.for "i" counter "r" {
      tally.issue "use" waits "full" >= "r"
    }
  }
}
