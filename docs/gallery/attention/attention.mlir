// Attention with a causal mask, block by block. The scores of block j are made while the
// exponentials of the block before are weighed with the values: two blocks are in flight.
tally.kernel @attention {
  tally.engine "sync" queues ["in" weight 16, "out" weight 16]
  tally.engine "tensor"
  tally.engine "scalar"
  tally.engine "vector"
  tally.buffer "q" shape [2, 128, 128] type "bf16" space "sbuf"
  tally.buffer "k" shape [4, 128, 512] type "bf16" space "sbuf"
  tally.buffer "v" shape [4, 128, 512] type "bf16" space "sbuf"
  tally.buffer "s" shape [2, 128, 512] type "f32" space "psum"
  tally.buffer "p" shape [2, 128, 512] type "bf16" space "sbuf"
  tally.buffer "acc" shape [2, 128, 128] type "f32" space "psum"
  tally.buffer "o" shape [2, 128, 128] type "bf16" space "sbuf"

  tally.loop "i" trips = "$n" max 64 {
    tally.instr "load_q" on "in" op "dma_copy(bytes=32768)" writes ["q[i mod 2, 0:128, 0:128]"]
    tally.loop "j" trips = "i + 1" {
      tally.instr "load_k" on "in" op "dma_copy(bytes=131072)"
        writes ["k[total(j) mod 4, 0:128, 0:512]"]
      tally.instr "load_v" on "in" op "dma_copy(bytes=131072)"
        writes ["v[total(j) mod 4, 0:128, 0:512]"]
      tally.instr "scores" on "tensor" op "nc_matmul(nmov=512, nstat=128)"
        reads ["q[i mod 2, 0:128, 0:128]", "k[total(j) mod 4, 0:128, 0:512]"]
        writes ["s[total(j) mod 2, 0:128, 0:512]"]
      tally.instr "exp" on "scalar" op "activation(n=512)"
        reads ["s[total(j) mod 2, 0:128, 0:512]"] writes ["p[total(j) mod 2, 0:128, 0:512]"]
      tally.instr "weigh" on "tensor" op "nc_matmul(nmov=512, nstat=128)"
        reads ["p[total(j) mod 2, 0:128, 0:512]", "v[total(j) mod 4, 0:128, 0:512]"]
        accumulates ["acc[i mod 2, 0:128, 0:128]"]
    }
    tally.instr "divide" on "vector" op "tensor_scalar(n=128)"
      reads ["acc[i mod 2, 0:128, 0:128]"] writes ["o[i mod 2, 0:128, 0:128]"]
    tally.instr "store" on "out" op "dma_copy(bytes=32768)" reads ["o[i mod 2, 0:128, 0:128]"]
  }
}
