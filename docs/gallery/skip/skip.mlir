// A matrix of blocks, most of them zero: a block is loaded and multiplied only if its flag is set.
// The ring moves on with the blocks that were loaded, not with all of them.
tally.kernel @skip {
  tally.engine "sync" weight 16
  tally.engine "tensor"
  tally.engine "vector"
  tally.buffer "block" shape [2, 128, 512] type "bf16" space "sbuf"
  tally.buffer "bank" shape [128, 512] type "f32" space "psum"
  tally.buffer "row" shape [128, 512] type "f32" space "sbuf"

  tally.loop "i" trips "rows" max 256 {
    tally.loop "j" trips "columns" max 256 {
      tally.if "nonzero" {
        tally.instr "load" on "sync" op "dma_copy(bytes=131072)"
          writes ["block[total(nonzero) mod 2, 0:128, 0:512]"]
        tally.instr "product" on "tensor" op "nc_matmul(nmov=512, nstat=128)"
          reads ["block[total(nonzero) mod 2, 0:128, 0:512]"] accumulates ["bank"]
      }
    }
    tally.instr "copy" on "vector" op "tensor_copy(n=512)" reads ["bank"] writes ["row"]
  }
}
