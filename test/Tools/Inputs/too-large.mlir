tally.kernel @k {
  tally.engine "vector"
  tally.buffer "X" shape [128, 65536] type "f32" space "sbuf" at 0 partitions
  tally.buffer "Y" shape [64, 16] type "f32" space "psum" at 0 partitions first 65
  tally.buffer "U" shape [128, 32768] type "f32" space "sbuf"
  tally.buffer "V" shape [128, 32768] type "f32" space "sbuf"
  tally.instr "i" on "vector"
}
