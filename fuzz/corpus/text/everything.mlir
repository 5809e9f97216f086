tally.kernel @everything {
  tally.engine "act"
  tally.engine "pe" weight 1 whole
  tally.engine "dma" weight 16 whole
  tally.engine "sp" split queues ["qload" weight 16 split, "qstore" whole]
  tally.value "k" min 1 max 7
  tally.buffer "X" shape [2, 128] type "bf16" space "sbuf" at 4096 partitions first 32 dim 1
  tally.buffer "scalar"
  tally.loop "A" trips 64 {
    tally.instr "load" on "dma" op "dma_copy" writes ["X[A mod 2, 0:128]"]
    tally.instr "scale" on "act" reads ["X[A mod 2, 0:128]", "scalar"] writes ["X"] accumulates ["scalar"]
    tally.instr "count" on "act" reads ["scalar"] loads ["d"]
    tally.if "c" divergent {
      tally.instr "p" on "pe"
    } else {
      tally.instr "q" on "pe"
    }
    tally.if "d" sync "per-engine" {
    }
  }
  tally.loop "B" trips "n" min 1 max 4096 divergent {
    tally.instr "store" on "qstore"
  }
  tally.loop "W" while "more" {
    tally.loop "S" trips "n" {
      tally.instr "s" on "sp"
    }
    tally.loop "T" trips "n" unroll 4 sync "barrier" {
      tally.instr "t" on "act"
    }
  }
  tally.dep "load" -> "scale" raw
  tally.dep "scale" -> "load" war at "A" = 2
  tally.dep "s" -> "s" waw at "W" = 1, "S" = -1
  tally.dep "load" -> "scale" flat 3
  tally.dep "s" -> "t" element 0 at "W" = 1
  tally.dep "p" -> "load" at "A" = 1 allow_divergent
}
tally.kernel @"strange name" attributes {target = "x"} {
  tally.engine "a \"quoted\" \\ engine" attributes {speed = 3}
}
