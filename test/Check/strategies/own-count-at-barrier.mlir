// RUN: %python %S/../Inputs/every-strategy.py %source_dir %s

// One engine takes the branch where the other does not. A barrier would count for both of them.

// REFUSED per-engine: engines may disagree on a loop that holds its instructions
// REFUSED barrier: barriers cannot stand for 'load' -> 'use'
// REFUSED unrolled: needs constant trips

tally.kernel @own_count_at_barrier {
  tally.engine "dma"
  tally.engine "act"
  tally.loop "A" trips "n" max 4 {
    tally.if "mine" divergent {
      tally.instr "load" on "dma"
    } else {
      tally.instr "use" on "act"
    }
  }
  tally.dep "load" -> "use" allow_divergent
}
