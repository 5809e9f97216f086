// RUN: %python %S/../Inputs/every-strategy.py %source_dir %s

// A tile is loaded, scaled and stored, with two slots for each step. Both transfers are issued by one engine.

// REFUSED unrolled: needs constant trips

tally.kernel @stream {
  tally.engine "sync" queues ["in" weight 16, "out" weight 16]
  tally.engine "act"
  tally.buffer "from" shape [8, 4]
  tally.buffer "to" shape [8, 4]
  tally.buffer "x" shape [2, 4]
  tally.buffer "y" shape [2, 4]
  tally.loop "t" trips "n" min 1 max 8 {
    tally.instr "load" on "in" reads ["from[t, 0:4]"] writes ["x[t mod 2, 0:4]"]
    tally.instr "half" on "act" reads ["x[t mod 2, 0:4]"] writes ["y[t mod 2, 0:4]"]
    tally.instr "store" on "out" reads ["y[t mod 2, 0:4]"] writes ["to[t, 0:4]"]
  }
}
