tally.kernel @counted {
  tally.engine "act"
  tally.engine "store"
  tally.buffer "counts" shape [1]
  tally.buffer "X" shape [64, 128]
  tally.instr "count" on "act" writes ["counts[0]"]
  tally.instr "n_act" on "act" reads ["counts[0]"] loads ["n"]
  tally.instr "n_store" on "store" reads ["counts[0]"] loads ["n"]
  tally.loop "i" trips = "$n" max 64 {
    tally.instr "compute" on "act" writes ["X[i, 0:128]"]
    tally.instr "store" on "store" reads ["X[i, 0:128]"]
  }
}
