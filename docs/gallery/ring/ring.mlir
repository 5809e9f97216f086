// Sixteen tiles of an array are added up in one accumulator; two slots let one arrive while the
// other is in use.
tally.kernel @ring {
  tally.engine "sync" weight 16
  tally.engine "vector"
  tally.buffer "in" shape [16, 128, 2048] type "f32"
  tally.buffer "x" shape [2, 128, 2048] type "f32" space "sbuf"
  tally.buffer "sum" shape [128, 2048] type "f32" space "sbuf"

  tally.loop "i" trips 16 {
    tally.instr "load" on "sync" op "dma_copy(bytes=1048576)"
      reads ["in[i, 0:128, 0:2048]"] writes ["x[i mod 2, 0:128, 0:2048]"]
    tally.instr "add" on "vector" op "tensor_tensor(n=2048)"
      reads ["x[i mod 2, 0:128, 0:2048]"] accumulates ["sum"]
  }
}
