// A stencil over an image that lies on the chip in strips of 126 rows, three of them at a time. Each
// strip has a row above and a row below for its neighbours', and a column at either side. Results
// are made and stored in blocks of columns, each of which needs a column of the blocks beside it.
tally.kernel @halo {
  tally.engine "sync" queues ["load" weight 16]
  tally.engine "vector"
  tally.engine "gpsimd" queues ["store" weight 16]
  tally.value "strips" max 64
  tally.buffer "X" shape [64, 126, 2048] type "f32" space "hbm"
  tally.buffer "Y" shape [64, 126, 2048] type "f32" space "hbm"
  tally.buffer "s" shape [3, 128, 2050] type "f32" space "sbuf" at 0 partitions dim 1
  tally.buffer "r" shape [2, 126, 512] type "f32" space "sbuf" at 24600 partitions first 1 dim 1
  tally.loop "i" trips = "$strips" {
    tally.instr "load" on "load" op "dma_copy(bytes=1032192)" reads ["X[i, 0:126, 0:2048]"] writes ["s[i mod 3, 1:126, 1:2048]"]
    tally.if "inner" when "i > 0" {
      tally.instr "below" on "load" op "dma_copy(bytes=8192)" reads ["s[i mod 3, 1, 1:2048]"] writes ["s[(i + 2) mod 3, 127, 1:2048]"]
      tally.instr "above" on "load" op "dma_copy(bytes=8192)" reads ["s[(i + 2) mod 3, 126, 1:2048]"] writes ["s[i mod 3, 0, 1:2048]"]
      tally.loop "c" trips 4 {
        tally.instr "stencil" on "vector" op "tensor_tensor(n=514)" reads ["s[(i + 2) mod 3, 0:128, 512*c:514]"] writes ["r[c mod 2, 0:126, 0:512]"]
        tally.instr "store" on "store" op "dma_copy.software(bytes=258048)" reads ["r[c mod 2, 0:126, 0:512]"] writes ["Y[i - 1, 0:126, 512*c:512]"]
      }
    }
  }
}
