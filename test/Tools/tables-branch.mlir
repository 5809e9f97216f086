// RUN: tally check %s --kernel=sometimes --sync=per-instruction --guards=3975035018 --quiet | FileCheck %s
// RUN: tally check %s --kernel=sometimes --sync=per-loop --quiet | FileCheck %s
// RUN: tally explain %s --kernel=steps --instr=c --quiet | FileCheck %s --check-prefix=EXPLAIN
//
// An iteration that leaves out a branch leaves out all runs of the table in it: what is waited for are no later ones.
//
// CHECK: verdict: yes
//
// A table that is written is explained, where all runs can be gone through.
//
// EXPLAIN: 'p' -> 'c' element [-1, 1] each 2

tally.kernel @sometimes {
  tally.engine "e"
  tally.loop "L" trips 3 {
    tally.if "b" {
    } else {
      tally.loop "C" trips 1 {
        tally.instr "c" on "e"
      }
      tally.loop "P" trips 1 {
        tally.instr "p" on "e"
      }
    }
  }
  tally.dep "p" -> "c" element [0, 0, 0, 0] each 3 at "L" = 1
}
tally.kernel @steps {
  tally.engine "e"
  tally.loop "L" trips 3 {
    tally.instr "p" on "e"
  }
  tally.loop "M" trips 2 {
    tally.instr "c" on "e"
  }
  tally.dep "p" -> "c" element [-1, 1] each 2
}
