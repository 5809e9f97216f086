// RUN: %python %S/../Inputs/every-strategy.py %source_dir %s

// Parts of the last load of one run of "row" mix with those of the first load of the next run, which owes nothing at
// distance 1 on "row". So no count says which load is done. Barriers keep them apart.

// REFUSED per-instruction: completes in 2 parts that may mix
// REFUSED per-loop: completes in 2 parts that may mix
// REFUSED per-engine: completes in 2 parts that may mix
// REFUSED unrolled: needs constant trips

tally.kernel @parts_in_nest {
  tally.engine "act"
  tally.engine "dma" weight 2 split
  tally.loop "sheet" trips "n" max 6 {
    tally.loop "row" trips "m" max 6 {
      tally.instr "load" on "dma"
      tally.instr "use" on "act"
    }
  }
  tally.dep "load" -> "use"
  tally.dep "use" -> "load" at "row" = 1
}
