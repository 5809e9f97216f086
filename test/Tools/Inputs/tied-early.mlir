tally.kernel @early {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [1]
  tally.loop "i" trips = "$n" max 4 {
    tally.instr "a" on "dma"
  }
  tally.loop "l" trips = "$n floordiv 2" {
    tally.instr "p" on "dma" writes ["X[0]"]
    tally.instr "c" on "act" reads ["X[0]"]
  }
}
tally.code @early {
  tally.semaphore "full"
  tally.program "dma" {
    tally.for "i" {
      tally.issue "a"
    }
    tally.for "l" {
      tally.issue "p" signals "full"
    }
  }
  tally.program "act" {
    tally.register "t"
    tally.for "l" {
      tally.set "t" = "t" + 1
      tally.issue "c" waits "full" >= "t"
    }
  }
}
