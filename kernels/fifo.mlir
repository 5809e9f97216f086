// A cyclo-static FIFO: the writer puts in 1, 3 and 2 rows in turn, the reader takes out 2 at a time.
tally.kernel @fifo {
  tally.engine "sync" queues ["load" weight 16]
  tally.engine "vector"
  tally.buffer "X" shape [6144, 512] type "f32" space "hbm"
  tally.buffer "f" shape [12, 512] type "f32" space "sbuf"
  tally.buffer "y" shape [2, 512] type "f32" space "sbuf"
  tally.loop "c" trips = "$cycles" max 1024 {
    tally.instr "one" on "load" op "dma_copy(bytes=2048)" reads ["X[6*c, 0:512]"] writes ["f[6*c mod 12, 0:512]"]
    tally.instr "three" on "load" op "dma_copy(bytes=6144)" reads ["X[6*c + 1:3, 0:512]"] writes ["f[(6*c + 1) mod 12:3, 0:512]"]
    tally.instr "two" on "load" op "dma_copy(bytes=4096)" reads ["X[6*c + 4:2, 0:512]"] writes ["f[(6*c + 4) mod 12:2, 0:512]"]
    tally.loop "r" trips 3 {
      tally.instr "take" on "vector" op "tensor_tensor(n=512)" reads ["f[(6*c + 2*r) mod 12:2, 0:512]"] writes ["y"]
    }
  }
}
