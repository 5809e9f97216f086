// Code by hand that waits for nothing, for a kernel that leaves its dependences to be found.

tally.kernel @unwaited {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [4]
  tally.loop "i" trips "n" max 4 {
    tally.instr "load" on "dma" writes ["X[i]"]
    tally.instr "use" on "act" reads ["X[i]"]
  }
}

tally.code @unwaited {
  tally.program "dma" {
    tally.for "i" {
      tally.issue "load"
    }
  }
  tally.program "act" {
    tally.for "i" {
      tally.issue "use"
    }
  }
}
