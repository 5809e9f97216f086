// One engine starts transfers on two queues. Within a queue they arrive in order; a transfer of
// one queue may overtake those of the other.
tally.kernel @two_queues {
  tally.engine "sync" queues ["weights" weight 16, "tiles" weight 16]
  tally.engine "tensor"
  tally.buffer "w" shape [2, 128, 128] type "bf16" space "sbuf"
  tally.buffer "x" shape [4, 128, 512] type "bf16" space "sbuf"
  tally.buffer "y" shape [128, 512] type "f32" space "psum"

  tally.loop "layer" trips "layers" max 64 {
    tally.instr "load_w" on "weights" op "dma_copy(bytes=32768)"
      writes ["w[layer mod 2, 0:128, 0:128]"]
    tally.loop "t" trips "tiles" max 64 {
      tally.instr "load_x" on "tiles" op "dma_copy(bytes=131072)"
        writes ["x[total(t) mod 4, 0:128, 0:512]"]
      tally.instr "product" on "tensor" op "nc_matmul(nmov=512, nstat=128)"
        reads ["w[layer mod 2, 0:128, 0:128]", "x[total(t) mod 4, 0:128, 0:512]"]
        accumulates ["y"]
    }
  }
}
