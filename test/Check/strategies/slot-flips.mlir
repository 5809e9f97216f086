// RUN: %python %S/../Inputs/every-strategy.py %source_dir %s

// The slot changes in iterations that take the branch, and is read behind it in all. A reader beyond the branch does not count it.

// REFUSED per-instruction: 'read' cannot touch 'S[total(fresh) mod 2]': 'fresh' is not a loop or branch around it
// REFUSED per-loop: 'read' cannot touch 'S[total(fresh) mod 2]': 'fresh' is not a loop or branch around it
// REFUSED per-engine: 'read' cannot touch 'S[total(fresh) mod 2]': 'fresh' is not a loop or branch around it
// REFUSED auto: 'read' cannot touch 'S[total(fresh) mod 2]': 'fresh' is not a loop or branch around it
// REFUSED barrier: 'read' cannot touch 'S[total(fresh) mod 2]': 'fresh' is not a loop or branch around it
// REFUSED unrolled: 'read' cannot touch 'S[total(fresh) mod 2]': 'fresh' is not a loop or branch around it

tally.kernel @slot_flips {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "S" shape [2]
  tally.instr "first" on "dma" writes ["S[0]"]
  tally.loop "t" trips "n" max 6 {
    tally.if "fresh" {
      tally.instr "next" on "dma" writes ["S[(total(fresh) + 1) mod 2]"]
    }
    tally.instr "read" on "act" reads ["S[total(fresh) mod 2]"]
  }
}
