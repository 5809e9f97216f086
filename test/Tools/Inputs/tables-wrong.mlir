tally.kernel @wrong {
  tally.engine "dma"
  tally.engine "act"
  tally.loop "A" trips "n" {
    tally.instr "p" on "dma"
    tally.instr "c" on "act"
  }
  tally.loop "B" trips "m" {
    tally.instr "d" on "act"
  }
  tally.instr "e" on "act"
  tally.dep "p" -> "d" element [1, 0] each 2
  tally.dep "p" -> "d" element [0, 3] each 2
  tally.dep "p" -> "d" element [-1] each 0
  tally.dep "p" -> "d" element [5000000000] each 1
  tally.dep "p" -> "e" element [0] each 1
  tally.dep "p" -> "c" element [0, 2] each 2
  tally.dep "c" -> "p" element [0, 0] each 2
  tally.dep "p" -> "c" element [0, 0] each 3
  tally.dep "p" -> "c" element [0, 0] each 1 at "A" = 1
  tally.dep "p" -> "c" element [0, 0] each 1 over "B"
  tally.dep "p" -> "c" element [0, 0] each 1 over "A" at "A" = 1
  tally.dep "p" -> "c" element [0, 0] each 1 over "Q"
}
