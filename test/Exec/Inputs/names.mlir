// Names that a program has itself: `reached_M` and `total_M` of loop 'M', arguments, words, macros.
tally.kernel @names {
  tally.engine "run_vector" queues ["next"]
  tally.engine "vector"
  tally.buffer "uint64_t" shape [8, 8] type "f32"
  tally.buffer "total_M" shape [8] type "f32"
  tally.buffer "BUFSIZ" shape [8] type "f32"
  tally.loop "reached_M" trips 8 {
    tally.loop "M" trips "m" max 4 {
      tally.instr "argc" on "run_vector" computes "17 + M" writes ["uint64_t[reached_M, M]"]
      tally.instr "serve_queue_next" on "next" computes "r0" reads ["uint64_t[reached_M, M]"] writes ["total_M[total(M) mod 8]"]
      tally.instr "program" on "vector" computes "r0 + 1" reads ["total_M[total(M) mod 8]"] writes ["BUFSIZ[total(M) mod 8]"]
    }
  }
}
