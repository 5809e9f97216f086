tally.kernel @k {
  tally.engine "act"
  tally.engine "dma" weight 16
  tally.loop "A" trips "n" {
    tally.instr "load" on "dma"
    tally.instr "scale" on "act"
    tally.if "c" {
      tally.instr "p" on "act"
    } else {
      tally.instr "q" on "act"
    }
    tally.if "d" {
    }
  }
  tally.dep "load" -> "scale"
  tally.dep "scale" -> "load" at "A" = 2
}
tally.code @k strategy "manual" machine "generic" {
  tally.semaphore "A.dma"
  tally.semaphore "A.act"
  tally.semaphore "x"
  tally.program "act" {
    tally.register "r0" role "total(A)"
    tally.register "t"
    tally.register "i"
    tally.set "r0" = 0
    tally.for "A" counter "i" {
      tally.set "r0" = "r0" + 1
      tally.set "t" = "r0" - 2
      tally.set "t" = 16 * "t"
      tally.set "t" = "t" min "i"
      tally.set "t" = 4294967295 gt "t"
      tally.set "t" = "i"
      tally.wait "A.dma" >= "t" for [0, 1]
      tally.wait "x" >= 5
      tally.issue "scale" waits "A.dma" >= 5 for [0] signals "A.act" by 1
      tally.branch "c" {
        tally.issue "p"
      } else {
        tally.issue "q" signals "x" by 4
      }
      tally.branch "d" {
      }
      tally.signal "x" by 2
      tally.signal "x"
      tally.reset "A.dma" count 3
      tally.drain
      tally.barrier ["act", "dma"] {
        tally.reset "x"
      }
    }
  }
  tally.program "dma" {
    tally.for "A" {
      tally.issue "load" signals "A.dma" by 16
      tally.barrier ["act", "dma"] {
        tally.drain
      }
    }
  }
}
