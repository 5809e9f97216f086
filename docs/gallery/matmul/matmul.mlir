// A tiled matrix product. The innermost loop adds up in one of two PSUM banks; while one bank is
// filled, the vector engine copies the other one out.
tally.kernel @matmul {
  tally.engine "sync" queues ["load" weight 16, "store" weight 16]
  tally.engine "tensor"
  tally.engine "vector"
  tally.buffer "a" shape [2, 128, 128] type "bf16" space "sbuf"
  tally.buffer "b" shape [2, 128, 512] type "bf16" space "sbuf"
  tally.buffer "bank" shape [2, 128, 512] type "f32" space "psum"
  tally.buffer "c" shape [2, 128, 512] type "bf16" space "sbuf"

  tally.loop "tile" trips "tiles" min 1 max 1024 {
    tally.loop "k" trips "depth" min 1 max 64 {
      tally.instr "load_a" on "load" op "dma_copy(bytes=32768)"
        writes ["a[total(k) mod 2, 0:128, 0:128]"]
      tally.instr "load_b" on "load" op "dma_copy(bytes=131072)"
        writes ["b[total(k) mod 2, 0:128, 0:512]"]
      tally.instr "product" on "tensor" op "nc_matmul(nmov=512, nstat=128)"
        reads ["a[total(k) mod 2, 0:128, 0:128]", "b[total(k) mod 2, 0:128, 0:512]"]
        accumulates ["bank[tile mod 2, 0:128, 0:512]"]
    }
    tally.instr "copy" on "vector" op "tensor_copy(n=512)"
      reads ["bank[tile mod 2, 0:128, 0:512]"] writes ["c[tile mod 2, 0:128, 0:512]"]
    tally.instr "store" on "store" op "dma_copy(bytes=131072)"
      reads ["c[tile mod 2, 0:128, 0:512]"]
  }
}
