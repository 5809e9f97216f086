// RUN: %python %S/../Inputs/every-strategy.py %source_dir %s

// The slot changes in iterations that take the branch, and is read there.

// REFUSED unrolled: needs constant trips

tally.kernel @slot_flips_inside {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "S" shape [2]
  tally.loop "t" trips "n" max 6 {
    tally.if "fresh" {
      tally.instr "next" on "dma" writes ["S[total(fresh) mod 2]"]
      tally.instr "read" on "act" reads ["S[total(fresh) mod 2]"]
    }
  }
}
