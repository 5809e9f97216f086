// An engine that is late, one that waits for it, and a queue: 20 iterations in a ring of two.
tally.kernel @timeline {
  tally.engine "slow"
  tally.engine "fast" queues ["out"]
  tally.buffer "x" shape [2, 4096] type "f32"
  tally.buffer "y" shape [2, 4096] type "f32"
  tally.buffer "z" shape [20, 4096] type "f32"
  tally.loop "A" trips 20 {
    tally.instr "make" on "slow" computes "tanh(index([4096], 0) + A)" writes ["x[A mod 2, 0:4096]"]
    tally.instr "use" on "fast" computes "r0 + 1" reads ["x[A mod 2, 0:4096]"] writes ["y[A mod 2, 0:4096]"]
    tally.instr "store" on "out" computes "r0" reads ["y[A mod 2, 0:4096]"] writes ["z[A, 0:4096]"]
  }
}
