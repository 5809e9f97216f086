// Attention of one new token over a cache of pages: a block table, read before, says which page of
// the pool is the next one of this sequence. Nothing here writes into the pool.
tally.kernel @paged_attention {
  tally.engine "sync" queues ["load" weight 16]
  tally.engine "tensor"
  tally.engine "vector"
  tally.engine "scalar"
  tally.engine "gpsimd" queues ["store" weight 16]
  tally.buffer "Q" shape [64, 128, 8] type "bf16" space "hbm"
  tally.buffer "K" shape [4096, 128, 128] type "bf16" space "hbm"
  tally.buffer "V" shape [4096, 128, 128] type "bf16" space "hbm"
  tally.buffer "O" shape [64, 8, 128] type "bf16" space "hbm"
  tally.buffer "q" shape [2, 128, 8] type "bf16" space "sbuf"
  tally.buffer "k" shape [4, 128, 128] type "bf16" space "sbuf"
  tally.buffer "v" shape [4, 128, 128] type "bf16" space "sbuf"
  tally.buffer "t" shape [2, 128, 8] type "f32" space "psum"
  tally.buffer "p" shape [2, 128, 8] type "bf16" space "sbuf"
  tally.buffer "o" shape [2, 8, 128] type "f32" space "psum"
  tally.buffer "out" shape [2, 8, 128] type "bf16" space "sbuf"
  tally.loop "s" trips = "$sequences" max 64 {
    tally.instr "load_q" on "load" op "dma_copy(bytes=2048)" reads ["Q[s, 0:128, 0:8]"] writes ["q[s mod 2, 0:128, 0:8]"]
    tally.loop "b" trips "pages" min 1 max 1024 {
      tally.instr "load_k" on "load" op "dma_copy(bytes=32768)" reads ["K[@]"] writes ["k[total(b) mod 4, 0:128, 0:128]"]
      tally.instr "load_v" on "load" op "dma_copy(bytes=32768)" reads ["V[@]"] writes ["v[total(b) mod 4, 0:128, 0:128]"]
      tally.instr "scores" on "tensor" op "nc_matmul(nstat=128, nmov=8)" reads ["k[total(b) mod 4, 0:128, 0:128]", "q[s mod 2, 0:128, 0:8]"] writes ["t[total(b) mod 2, 0:128, 0:8]"]
      tally.instr "exp" on "scalar" op "activation(n=8)" reads ["t[total(b) mod 2, 0:128, 0:8]"] writes ["p[total(b) mod 2, 0:128, 0:8]"]
      tally.instr "sum" on "tensor" op "nc_matmul(nstat=8, nmov=128)" reads ["p[total(b) mod 2, 0:128, 0:8]", "v[total(b) mod 4, 0:128, 0:128]"] accumulates ["o[s mod 2, 0:8, 0:128]"]
    }
    tally.instr "scale" on "vector" op "tensor_scalar(n=128)" reads ["o[s mod 2, 0:8, 0:128]"] writes ["out[s mod 2, 0:8, 0:128]"]
    tally.instr "store_o" on "store" op "dma_copy.software(bytes=2048)" reads ["out[s mod 2, 0:8, 0:128]"] writes ["O[s, 0:8, 0:128]"]
  }
}
