// The lower triangle of a matrix of blocks: row i has columns 0 to i, so the inner loop runs i + 1
// times. Blocks are counted through all rows: the ring goes on where the row before has stopped.
tally.kernel @causal {
  tally.engine "sync" weight 16
  tally.engine "tensor"
  tally.engine "scalar"
  tally.buffer "keys" shape [2, 128, 512] type "bf16" space "sbuf"
  tally.buffer "score" shape [2, 128, 512] type "f32" space "psum"

  tally.loop "i" trips = "$n" max 64 {
    tally.loop "j" trips = "i + 1" {
      tally.instr "load" on "sync" op "dma_copy(bytes=131072)"
        writes ["keys[total(j) mod 2, 0:128, 0:512]"]
      tally.instr "match" on "tensor" op "nc_matmul(nmov=512, nstat=128)"
        reads ["keys[total(j) mod 2, 0:128, 0:512]"] writes ["score[total(j) mod 2, 0:128, 0:512]"]
      tally.instr "exp" on "scalar" op "activation(n=512)"
        reads ["score[total(j) mod 2, 0:128, 0:512]"]
    }
  }
}
