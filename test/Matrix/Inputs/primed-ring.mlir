// Code by hand: one slot is filled ahead, and the consumer hands out one credit before its loop.
tally.kernel @primed_ring {
  tally.engine "load"
  tally.engine "work"
  tally.buffer "S" shape [2]
  tally.instr "ahead" on "load" writes ["S[0]"]
  tally.loop "t" trips "n" max 6 {
    tally.instr "fill" on "load" writes ["S[(t + 1) mod 2]"]
    tally.instr "drink" on "work" reads ["S[t mod 2]"]
  }
}
tally.code @primed_ring {
  tally.semaphore "full"
  tally.semaphore "empty"
  tally.program "load" {
    tally.register "k"
    tally.set "k" = 0
    tally.issue "ahead" signals "full"
    tally.for "t" {
      tally.set "k" = "k" + 1
      tally.issue "fill" waits "empty" >= "k" signals "full"
    }
  }
  tally.program "work" {
    tally.register "k"
    tally.set "k" = 0
    tally.signal "empty"
    tally.for "t" {
      tally.set "k" = "k" + 1
      tally.issue "drink" waits "full" >= "k" signals "empty"
    }
  }
}
