// A matrix of blocks, most of them zero: a block is loaded and multiplied only where its
// flag is set. How many rows are to be cleared, the Activation engine alone knows.
//
//   for A in 0..n:
//     if nonzero:  dma  X := block A      pe  Y += X
//     for C:       act  clears one row of Z, one after the other
//     store:       dma  writes Y back
tally.kernel @block_sparse {
  tally.engine "pe"
  tally.engine "act"
  tally.engine "dma" weight 16
  tally.buffer "X" shape [128, 128] type "bf16" space "sbuf"
  tally.buffer "Y" shape [128, 128] type "f32" space "psum"
  tally.buffer "Z" shape [128, 512] type "f32" space "sbuf"
  tally.loop "A" trips "n" max 65536 {
    tally.if "nonzero" {
      tally.instr "load" on "dma" writes ["X"]
      tally.instr "matmul" on "pe" reads ["X"] accumulates ["Y"]
    }
    tally.loop "C" trips "rows" max 128 divergent {
      tally.instr "clear" on "act" writes ["Z[C, 0:512]"]
    }
    tally.instr "store" on "dma" reads ["Y"]
  }
  tally.dep "load" -> "matmul" raw
  tally.dep "matmul" -> "load" war at "A" = 1
  tally.dep "matmul" -> "store" raw
  tally.dep "store" -> "matmul" war at "A" = 1
  tally.dep "clear" -> "clear" waw at "C" = 1
  tally.dep "clear" -> "clear" waw at "A" = 1
}
