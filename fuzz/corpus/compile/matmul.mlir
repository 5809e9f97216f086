tally.kernel @matmul {
  tally.engine "sync" queues ["load" weight 16, "store" weight 16]
  tally.engine "tensor"
  tally.engine "vector"
  tally.loop "m" trips "tiles_m" min 1 max 256 {
    tally.instr "load_lhs" on "load" op "dma_copy"
    tally.loop "n" trips "tiles_n" min 1 max 256 {
      tally.instr "load_rhs" on "load" op "dma_copy"
      tally.loop "k" trips "tiles_k" min 1 max 256 unroll 4 sync "barrier" {
        tally.instr "weights" on "tensor" op "load_weights"
        tally.instr "matmul" on "tensor" op "matmul"
      }
      tally.instr "evict" on "vector" op "copy"
      tally.instr "store" on "store" op "dma_copy"
    }
  }
  tally.dep "load_lhs" -> "weights" raw
  tally.dep "load_rhs" -> "matmul" raw
  tally.dep "weights" -> "matmul" raw
  tally.dep "matmul" -> "evict" raw
  tally.dep "evict" -> "store" raw
  tally.dep "weights" -> "load_lhs" war at "m" = 1
  tally.dep "matmul" -> "load_rhs" war at "n" = 1
  tally.dep "evict" -> "matmul" war at "n" = 2
  tally.dep "store" -> "evict" war at "n" = 2
}
