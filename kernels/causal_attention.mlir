// Causal attention, one block of queries after another: the block of queries i meets the blocks of
// keys 0 to i, and only the last of these is masked.
tally.kernel @causal_attention {
  tally.engine "sync" queues ["load" weight 16]
  tally.engine "tensor"
  tally.engine "vector"
  tally.engine "scalar"
  tally.engine "gpsimd" queues ["store" weight 16]
  tally.buffer "Q" shape [64, 128, 128] type "bf16" space "hbm"
  tally.buffer "K" shape [64, 128, 128] type "bf16" space "hbm"
  tally.buffer "V" shape [64, 128, 128] type "bf16" space "hbm"
  tally.buffer "O" shape [64, 128, 128] type "bf16" space "hbm"
  tally.buffer "q" shape [2, 128, 128] type "bf16" space "sbuf"
  tally.buffer "k" shape [2, 128, 128] type "bf16" space "sbuf"
  tally.buffer "v" shape [2, 128, 128] type "bf16" space "sbuf"
  tally.buffer "s" shape [2, 128, 128] type "f32" space "psum"
  tally.buffer "p" shape [2, 128, 128] type "bf16" space "sbuf"
  tally.buffer "o" shape [2, 128, 128] type "f32" space "psum"
  tally.buffer "out" shape [2, 128, 128] type "bf16" space "sbuf"
  tally.loop "i" trips = "$blocks" max 64 {
    tally.instr "load_q" on "load" op "dma_copy(bytes=32768)" reads ["Q[i, 0:128, 0:128]"] writes ["q[i mod 2, 0:128, 0:128]"]
    tally.loop "j" trips = "i + 1" {
      tally.instr "load_k" on "load" op "dma_copy(bytes=32768)" reads ["K[j, 0:128, 0:128]"] writes ["k[total(j) mod 2, 0:128, 0:128]"]
      tally.instr "load_v" on "load" op "dma_copy(bytes=32768)" reads ["V[j, 0:128, 0:128]"] writes ["v[total(j) mod 2, 0:128, 0:128]"]
      tally.instr "scores" on "tensor" op "nc_matmul(nstat=128, nmov=128)" reads ["q[i mod 2, 0:128, 0:128]", "k[total(j) mod 2, 0:128, 0:128]"] writes ["s[total(j) mod 2, 0:128, 0:128]"]
      tally.if "diagonal" when "j == i" {
        tally.instr "mask" on "gpsimd" op "affine_select(n=128)" reads ["s[total(j) mod 2, 0:128, 0:128]"] writes ["s[total(j) mod 2, 0:128, 0:128]"]
      }
      tally.instr "exp" on "scalar" op "activation(n=128)" reads ["s[total(j) mod 2, 0:128, 0:128]"] writes ["p[total(j) mod 2, 0:128, 0:128]"]
      tally.instr "sum" on "tensor" op "nc_matmul(nstat=128, nmov=128)" reads ["p[total(j) mod 2, 0:128, 0:128]", "v[total(j) mod 2, 0:128, 0:128]"] accumulates ["o[i mod 2, 0:128, 0:128]"]
    }
    tally.instr "scale" on "vector" op "tensor_scalar(n=128)" reads ["o[i mod 2, 0:128, 0:128]"] writes ["out[i mod 2, 0:128, 0:128]"]
    tally.instr "store_o" on "store" op "dma_copy.software(bytes=32768)" reads ["out[i mod 2, 0:128, 0:128]"] writes ["O[i, 0:128, 0:128]"]
  }
}
