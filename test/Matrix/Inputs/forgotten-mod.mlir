// Without "mod 2", the tiles of "x" are inside their buffer in the first two iterations only.
tally.kernel @forgotten_mod {
  tally.engine "dma" queues ["in" weight 4]
  tally.engine "act"
  tally.buffer "from" shape [8, 4] type "f32"
  tally.buffer "x" shape [2, 4] type "f32"
  tally.loop "i" trips "tiles" min 1 max 8 {
    tally.instr "load" on "in" computes "r0" reads ["from[i, 0:4]"] writes ["x[i, 0:4]"]
    tally.instr "use" on "act" reads ["x[i, 0:4]"]
  }
}
