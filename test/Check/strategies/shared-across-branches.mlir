// RUN: %python %S/../Inputs/every-strategy.py %source_dir %s

// REFUSED unrolled: needs constant trips

// A product is made before the outer `if`, again in one of its branches, and again in a branch of the inner
// `if`: there it is of no use for the other branch.
tally.kernel @shared_across_branches {
  tally.engine "act"
  tally.engine "dma" weight 16
  tally.loop "B" trips "n" max 9 {
    tally.if "c" {
      tally.instr "i10" on "act"
      tally.loop "E" trips 2 { tally.instr "load" on "dma" }
    } else {
      tally.if "d" { tally.instr "u" on "act" } else { tally.instr "v" on "act" }
    }
  }
  tally.dep "load" -> "i10" at "B" = 1
  tally.dep "load" -> "u" at "B" = 1
  tally.dep "load" -> "v" at "B" = 1
}
