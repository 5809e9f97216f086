// Code by hand: an instruction in a branch releases the next read; where it is skipped, the engine
// drains and gives the signal itself.
tally.kernel @drained_branch {
  tally.engine "read"
  tally.engine "write"
  tally.buffer "M"
  tally.loop "t" trips "n" max 6 {
    tally.instr "look" on "read" reads ["M"]
    tally.if "dirty" {
      tally.instr "change" on "write" writes ["M"]
    }
  }
  tally.dep "look" -> "change"
  tally.dep "change" -> "look" at "t" = 1
}
tally.code @drained_branch {
  tally.semaphore "seen"
  tally.semaphore "done"
  tally.program "read" {
    tally.register "k"
    tally.set "k" = 0
    tally.for "t" {
      tally.issue "look" waits "done" >= "k" for [1] signals "seen"
      tally.set "k" = "k" + 1
    }
  }
  tally.program "write" {
    tally.register "k"
    tally.set "k" = 0
    tally.for "t" {
      tally.set "k" = "k" + 1
      tally.branch "dirty" {
        tally.issue "change" waits "seen" >= "k" for [0] signals "done"
      } else {
        tally.drain
        tally.signal "done"
      }
    }
  }
}
