// Solves L x = b for a lower triangular matrix of blocks: what is known of x goes into the row that
// is solved next, so row i reads the blocks 0 to i - 1 of x. Blocks of L stream through a ring.
tally.kernel @triangular_solve {
  tally.engine "sync" queues ["load" weight 16, "store" weight 16]
  tally.engine "tensor"
  tally.engine "vector"
  tally.buffer "L" shape [64, 64, 128, 128] type "bf16" space "hbm"
  tally.buffer "D" shape [64, 128, 128] type "bf16" space "hbm"
  tally.buffer "b" shape [64, 128, 512] type "bf16" space "hbm"
  tally.buffer "X" shape [64, 128, 512] type "bf16" space "hbm"
  tally.buffer "l" shape [4, 128, 128] type "bf16" space "sbuf"
  tally.buffer "d" shape [2, 128, 128] type "bf16" space "sbuf"
  tally.buffer "r" shape [2, 128, 512] type "bf16" space "sbuf"
  tally.buffer "x" shape [64, 128, 512] type "bf16" space "sbuf"
  tally.buffer "s" shape [2, 128, 512] type "f32" space "psum"
  tally.buffer "y" shape [2, 128, 512] type "f32" space "psum"
  tally.buffer "t" shape [2, 128, 512] type "bf16" space "sbuf"
  tally.loop "i" trips = "$rows" max 64 {
    tally.instr "load_d" on "load" op "dma_copy(bytes=32768)" reads ["D[i, 0:128, 0:128]"] writes ["d[i mod 2, 0:128, 0:128]"]
    tally.instr "load_b" on "load" op "dma_copy(bytes=131072)" reads ["b[i, 0:128, 0:512]"] writes ["r[i mod 2, 0:128, 0:512]"]
    tally.loop "j" trips = "i" {
      tally.instr "load_l" on "load" op "dma_copy(bytes=32768)" reads ["L[i, j, 0:128, 0:128]"] writes ["l[total(j) mod 4, 0:128, 0:128]"]
      tally.instr "product" on "tensor" op "nc_matmul(nstat=128, nmov=512)" reads ["l[total(j) mod 4, 0:128, 0:128]", "x[j, 0:128, 0:512]"] accumulates ["s[i mod 2, 0:128, 0:512]"]
    }
    tally.instr "rest" on "vector" op "tensor_tensor(n=512)" reads ["r[i mod 2, 0:128, 0:512]", "s[i mod 2, 0:128, 0:512]"] writes ["t[i mod 2, 0:128, 0:512]"]
    tally.instr "solve" on "tensor" op "nc_matmul(nstat=128, nmov=512)" reads ["d[i mod 2, 0:128, 0:128]", "t[i mod 2, 0:128, 0:512]"] writes ["y[i mod 2, 0:128, 0:512]"]
    tally.instr "keep" on "vector" op "tensor_copy(n=512)" reads ["y[i mod 2, 0:128, 0:512]"] writes ["x[i, 0:128, 0:512]"]
    tally.instr "store_x" on "store" op "dma_copy(bytes=131072)" reads ["x[i, 0:128, 0:512]"] writes ["X[i, 0:128, 0:512]"]
  }
}
