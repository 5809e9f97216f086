// A product of tiles in three loops. The innermost meets at its back edge, and is written out.
tally.kernel @nest {
  tally.engine "load" weight 16
  tally.engine "tensor"
  tally.engine "vector"
  tally.loop "m" trips "tiles_m" max 64 {
    tally.loop "n" trips "tiles_n" max 64 {
      tally.loop "k" trips "tiles_k" max 64 unroll 4 sync "barrier" {
        tally.instr "panel" on "load"
        tally.instr "product" on "tensor"
      }
      tally.instr "sum" on "vector"
    }
  }
  tally.dep "panel" -> "product"
  tally.dep "product" -> "panel" at "k" = 2
  tally.dep "product" -> "sum"
  tally.dep "sum" -> "product" at "n" = 1
}
