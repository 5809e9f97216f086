// A batch of sequences of different lengths, packed one behind the other: a prefix table says where
// each begins, and the rows before it are as many as the loop has gone through. The longest has 512.
tally.kernel @ragged {
  tally.engine "sync" queues ["load" weight 16, "store" weight 16]
  tally.engine "vector"
  tally.buffer "X" shape [32768, 128, 64] type "bf16" space "hbm"
  tally.buffer "S" shape [64, 128, 64] type "bf16" space "hbm"
  tally.buffer "Y" shape [32768, 128, 64] type "bf16" space "hbm"
  tally.buffer "s" shape [2, 128, 64] type "bf16" space "sbuf"
  tally.buffer "x" shape [4, 128, 64] type "bf16" space "sbuf"
  tally.buffer "y" shape [4, 128, 64] type "bf16" space "sbuf"
  tally.loop "b" trips "sequences" max 64 {
    tally.instr "load_s" on "load" op "dma_copy(bytes=16384)" reads ["S[b, 0:128, 0:64]"] writes ["s[b mod 2, 0:128, 0:64]"]
    tally.loop "r" trips "rows" max 512 {
      tally.instr "load_x" on "load" op "dma_copy(bytes=16384)" reads ["X[total(r), 0:128, 0:64]"] writes ["x[total(r) mod 4, 0:128, 0:64]"]
      tally.instr "shift" on "vector" op "tensor_tensor(n=64)" reads ["x[total(r) mod 4, 0:128, 0:64]", "s[b mod 2, 0:128, 0:64]"] writes ["y[total(r) mod 4, 0:128, 0:64]"]
      tally.instr "store_y" on "store" op "dma_copy(bytes=16384)" reads ["y[total(r) mod 4, 0:128, 0:64]"] writes ["Y[total(r), 0:128, 0:64]"]
    }
  }
}
