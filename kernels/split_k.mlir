// A product whose inner dimension is split over four partial sums, which a tree then adds up:
// 0 += 1 and 2 += 3, then 0 += 2.
tally.kernel @split_k {
  tally.engine "sync" queues ["load" weight 16, "store" weight 16]
  tally.engine "tensor"
  tally.engine "vector"
  tally.engine "gpsimd"
  tally.buffer "A" shape [256, 128, 128] type "bf16" space "hbm"
  tally.buffer "B" shape [256, 128, 512] type "bf16" space "hbm"
  tally.buffer "C" shape [128, 512] type "f32" space "hbm"
  tally.buffer "a" shape [4, 128, 128] type "bf16" space "sbuf"
  tally.buffer "b" shape [4, 128, 512] type "bf16" space "sbuf"
  tally.buffer "p" shape [4, 128, 512] type "f32" space "psum"
  tally.buffer "c" shape [4, 128, 512] type "f32" space "sbuf"
  tally.loop "s" trips 4 {
    tally.loop "k" trips = "$part" max 64 {
      tally.instr "load_a" on "load" op "dma_copy(bytes=32768)" reads ["A[64*s + k, 0:128, 0:128]"] writes ["a[total(k) mod 4, 0:128, 0:128]"]
      tally.instr "load_b" on "load" op "dma_copy(bytes=131072)" reads ["B[64*s + k, 0:128, 0:512]"] writes ["b[total(k) mod 4, 0:128, 0:512]"]
      tally.instr "product" on "tensor" op "nc_matmul(nstat=128, nmov=512)" reads ["a[total(k) mod 4, 0:128, 0:128]", "b[total(k) mod 4, 0:128, 0:512]"] accumulates ["p[s, 0:128, 0:512]"]
    }
    tally.instr "evict" on "vector" op "tensor_copy(n=512)" reads ["p[s, 0:128, 0:512]"] writes ["c[s, 0:128, 0:512]"]
  }
  tally.loop "t" trips 2 {
    tally.instr "pairs" on "gpsimd" op "tensor_tensor.gpsimd(n=512)" reads ["c[2*t, 0:128, 0:512]", "c[2*t + 1, 0:128, 0:512]"] writes ["c[2*t, 0:128, 0:512]"]
  }
  tally.instr "all" on "vector" op "tensor_tensor(n=512)" reads ["c[0, 0:128, 0:512]", "c[2, 0:128, 0:512]"] writes ["c[0, 0:128, 0:512]"]
  tally.instr "store_c" on "store" op "dma_copy(bytes=262144)" reads ["c[0, 0:128, 0:512]"] writes ["C[0:128, 0:512]"]
}
