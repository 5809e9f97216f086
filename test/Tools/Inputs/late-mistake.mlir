// 'r' waits for no more than 790 runs of 'w': wrong from the 791st on, which takes thousands of steps to show.
module {
  tally.kernel @meet {
    tally.engine "a"
    tally.engine "b"
    tally.buffer "X" shape [800]
    tally.loop "i" trips 800 {
      tally.instr "w" on "a" writes ["X[i]"]
    }
    tally.loop "j" trips 800 {
      tally.instr "r" on "b" reads ["X[j]"]
    }
  }
  tally.code @meet machine "generic" {
    tally.semaphore "i.a"
    tally.program "a" {
      tally.for "i" {
        tally.issue "w" signals "i.a"
      }
    }
    tally.program "b" {
      tally.register "r0" role "total(j)"
      tally.register "r1"
      tally.for "i" {
      }
      tally.set "r0" = 0
      tally.for "j" {
        tally.set "r0" = "r0" + 1
        tally.set "r1" = "r0" min 790
        tally.issue "r" waits "i.a" >= "r1"
      }
    }
  }
}
