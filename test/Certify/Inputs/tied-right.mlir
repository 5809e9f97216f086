tally.kernel @k {
  tally.engine "a"
  tally.engine "b"
  tally.loop "i" trips = "$n" max 8 {
    tally.instr "p" on "a"
  }
  tally.loop "j" trips = "$n" {
    tally.instr "q" on "b"
  }
  tally.instr "c" on "b"
  tally.dep "p" -> "c"
}
tally.code @k strategy "manual" machine "generic" {
  tally.semaphore "s"
  tally.program "a" {
    tally.for "i" {
      tally.issue "p" signals "s"
    }
  }
  tally.program "b" {
    tally.register "r0"
    tally.set "r0" = 0
    tally.for "j" {
      tally.set "r0" = "r0" + 1
      tally.issue "q"
    }
    tally.issue "c" waits "s" >= "r0" for [0]
  }
}
