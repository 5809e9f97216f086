// RUN: %python %S/../Inputs/every-strategy.py %source_dir %s

// Softmax on the go, reduced to who touches what: blocks of a row are fetched into two slots unless they are masked out, each
// changes the largest value so far, and with it the factor by which the sum so far is corrected.

// REFUSED unrolled: needs constant trips

tally.kernel @running_softmax {
  tally.engine "sync" queues ["in" weight 16, "out" weight 16]
  tally.engine "pe"
  tally.engine "vec"
  tally.engine "act"
  tally.buffer "block" shape [2]
  tally.buffer "score" shape [2]
  tally.buffer "factor"
  tally.buffer "top"
  tally.buffer "sum"
  tally.buffer "result" shape [4]
  tally.loop "row" trips "rows" min 1 max 4 {
    tally.instr "clear" on "vec" writes ["sum", "top"]
    tally.loop "col" trips "cols" min 1 max 4 {
      tally.if "visible" {
        tally.instr "fetch" on "in" writes ["block[total(visible) mod 2]"]
        tally.instr "match" on "pe" reads ["block[total(visible) mod 2]"] writes ["score[total(visible) mod 2]"]
        tally.instr "correct" on "act" reads ["score[total(visible) mod 2]", "top"] writes ["factor"]
        tally.instr "raise" on "vec" reads ["score[total(visible) mod 2]"] writes ["top"]
        tally.instr "add" on "vec" reads ["factor", "score[total(visible) mod 2]"] accumulates ["sum"]
      }
    }
    tally.instr "store" on "out" reads ["sum"] writes ["result[row]"]
  }
}
