// One wait serves all, where the eleventh run needs one more: seen only with as many trips.
tally.kernel @k {
  tally.engine "a"
  tally.engine "b"
  tally.loop "B" trips "n" max 64 {
    tally.instr "p" on "a"
  }
  tally.loop "C" trips "m" max 64 {
    tally.instr "c" on "b"
  }
  tally.dep "p" -> "c" element [0, 0, 0, 0, 0, 0, 0, 0, 0, 0] each 1
}
tally.code @k strategy "manual" machine "generic" {
  tally.semaphore "s"
  tally.program "a" {
    tally.for "B" { tally.issue "p" signals "s" }
  }
  tally.program "b" {
    tally.register "r0"
    tally.set "r0" = 0
    tally.for "B" { tally.set "r0" = 1 }
    tally.for "C" { tally.issue "c" waits "s" >= "r0" for [0] }
  }
}
