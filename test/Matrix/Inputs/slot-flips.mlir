// The slot changes only in iterations that take the branch, and is read behind it in all.
tally.kernel @slot_flips {
  tally.engine "load"
  tally.engine "use"
  tally.buffer "S" shape [2]
  tally.instr "warm" on "load" writes ["S[0]"]
  tally.loop "t" trips "n" max 6 {
    tally.if "fresh" {
      tally.instr "next" on "load" writes ["S[(total(fresh) + 1) mod 2]"]
    }
    tally.instr "read" on "use" reads ["S[total(fresh) mod 2]"]
  }
}
