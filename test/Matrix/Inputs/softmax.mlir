// Softmax on the go, block by block; some blocks are masked out. Slots flip only where a block counts.
tally.kernel @softmax {
  tally.engine "sync" queues ["fetch" weight 16, "fetch2" weight 16, "put" weight 16]
  tally.engine "tensor"
  tally.engine "vector"
  tally.engine "scalar"
  tally.buffer "A" shape [8, 4, 16] type "bf16" space "hbm"
  tally.buffer "B" shape [8, 4, 16] type "bf16" space "hbm"
  tally.buffer "R" shape [8, 4, 16] type "f32" space "hbm"
  tally.buffer "a" shape [2, 4, 16] type "bf16" space "sbuf"
  tally.buffer "b" shape [2, 4, 16] type "bf16" space "sbuf"
  tally.buffer "score" shape [2, 4, 4] type "f32" space "psum"
  tally.buffer "weight" shape [2, 4, 4] type "bf16" space "sbuf"
  tally.buffer "peak" shape [4] type "f32" space "sbuf"
  tally.buffer "newpeak" shape [4] type "f32" space "sbuf"
  tally.buffer "sum" shape [4] type "f32" space "sbuf"
  tally.buffer "part" shape [2, 4, 16] type "f32" space "psum"
  tally.buffer "acc" shape [4, 16] type "f32" space "sbuf"
  tally.loop "row" trips "rows" min 1 max 8 {
    tally.instr "fetch_a" on "fetch" op "dma_copy(bytes=128)" reads ["A[row, 0:4, 0:16]"] writes ["a[row mod 2, 0:4, 0:16]"]
    tally.instr "clear" on "vector" op "memset(n=16)" writes ["acc", "peak", "sum"]
    tally.loop "col" trips "cols" min 1 max 8 {
      tally.if "unmasked" {
        tally.instr "fetch_b" on "fetch2" op "dma_copy(bytes=128)" reads ["B[col, 0:4, 0:16]"] writes ["b[total(unmasked) mod 2, 0:4, 0:16]"]
        tally.instr "match" on "tensor" op "nc_matmul(nstat=16, nmov=16)" reads ["a[row mod 2, 0:4, 0:16]", "b[total(unmasked) mod 2, 0:4, 0:16]"] writes ["score[total(unmasked) mod 2, 0:4, 0:4]"]
        tally.instr "top" on "vector" op "tensor_reduce(n=4)" reads ["score[total(unmasked) mod 2, 0:4, 0:4]", "peak"] writes ["newpeak"]
        tally.instr "weigh" on "scalar" op "activation(n=4)" reads ["score[total(unmasked) mod 2, 0:4, 0:4]", "newpeak", "sum"] writes ["weight[total(unmasked) mod 2, 0:4, 0:4]", "sum"]
        tally.instr "keep" on "vector" op "tensor_copy(n=1)" reads ["newpeak"] writes ["peak"]
        tally.instr "mix" on "tensor" op "nc_matmul(nstat=16, nmov=16)" reads ["weight[total(unmasked) mod 2, 0:4, 0:4]", "b[total(unmasked) mod 2, 0:4, 0:16]"] writes ["part[total(unmasked) mod 2, 0:4, 0:16]"]
        tally.instr "gather" on "vector" op "tensor_tensor(n=16)" reads ["acc", "part[total(unmasked) mod 2, 0:4, 0:16]"] writes ["acc"]
      }
    }
    tally.instr "divide" on "vector" op "tensor_scalar(n=16)" reads ["acc", "sum"] writes ["acc"]
    tally.instr "store" on "put" op "dma_copy(bytes=256)" reads ["acc"] writes ["R[row, 0:4, 0:16]"]
  }
}
