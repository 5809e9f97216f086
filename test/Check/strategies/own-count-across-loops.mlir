// RUN: %python %S/../Inputs/every-strategy.py %source_dir %s

// Engines disagree on how often the inner loops run, and the distance on the outer one reaches into an earlier run of them:
// each engine waits by its own count, and might wait for what the other never issues.

// REFUSED per-instruction: might wait forever
// REFUSED per-loop: might wait forever
// REFUSED per-engine: engines may disagree on a loop that holds its instructions
// REFUSED auto: might wait forever
// REFUSED barrier: barriers cannot stand for 'load' -> 'use'
// REFUSED unrolled: needs constant trips

tally.kernel @own_count_across_loops {
  tally.engine "dma"
  tally.engine "act"
  tally.loop "A" trips "a" max 3 {
    tally.loop "B" trips "b" max 3 divergent {
      tally.loop "C" trips "c" max 3 divergent {
        tally.instr "load" on "dma"
        tally.instr "use" on "act"
      }
    }
  }
  tally.dep "load" -> "use" at "A" = 1 allow_divergent
}
