// RUN: %python %S/../Inputs/every-strategy.py %source_dir %s

// The inner loop reads rows that the outer one has written so far, as the author knows; how far, only the run knows. So a reader waits
// for all writes before it, and a write for all reads of the iteration before.

// REFUSED unrolled: needs constant trips

tally.kernel @triangle {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "K" shape [5]
  tally.loop "i" trips "n" max 5 {
    tally.instr "put" on "dma" writes ["K[i]"]
    tally.loop "j" trips "seen" max 5 {
      tally.instr "get" on "act" reads ["K[j]"]
    }
  }
}
