// Each iteration fetches the weights anew, and `vector` waits for `scalar` in the middle of each one.
tally.kernel @reload {
  tally.engine "sync" queues ["load" weight 16, "store" weight 16]
  tally.engine "vector"
  tally.engine "scalar"
  tally.buffer "W" shape [128, 2048] type "f32" space "hbm"
  tally.buffer "X" shape [32, 128, 512] type "f32" space "hbm"
  tally.buffer "Y" shape [32, 128, 512] type "f32" space "hbm"
  tally.buffer "w" shape [128, 2048] type "f32" space "sbuf"
  tally.buffer "x" shape [4, 128, 512] type "f32" space "sbuf"
  tally.buffer "s" shape [32, 128] type "f32" space "sbuf"
  tally.buffer "e" shape [32, 128] type "f32" space "sbuf"
  tally.buffer "y" shape [4, 128, 512] type "f32" space "sbuf"
  tally.loop "i" trips 32 {
    tally.instr "fetch" on "load" op "dma_copy(bytes=262144)" reads ["X[i, 0:128, 0:512]"] writes ["x[i mod 4, 0:128, 0:512]"]
    tally.instr "weights" on "load" op "dma_copy(bytes=1048576)" reads ["W"] writes ["w"]
    tally.instr "sum" on "vector" op "tensor_tensor(n=512)" reads ["x[i mod 4, 0:128, 0:512]", "w[0:128, 0:512]"] writes ["s[i, 0:128]"]
    tally.instr "exp" on "scalar" op "activation(n=1)" reads ["s[i, 0:128]"] writes ["e[i, 0:128]"]
    tally.instr "scale" on "vector" op "tensor_scalar(n=512)" reads ["x[i mod 4, 0:128, 0:512]", "e[i, 0:128]"] writes ["y[i mod 4, 0:128, 0:512]"]
    tally.instr "put" on "store" op "dma_copy(bytes=262144)" reads ["y[i mod 4, 0:128, 0:512]"] writes ["Y[i, 0:128, 0:512]"]
  }
}
