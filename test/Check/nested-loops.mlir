// Two nested loops of 0 to 3 trips, the inner ones anew for each outer iteration; 3, 3 and 2 instructions on three
// engines, 5 dependences. Every interleaving of all 85 choices of trips is explored; docs/guide/results/Checking.md has the times.
// RUN: tally check %s --explore --max-trips=3 --no-distances --sync=per-instruction | FileCheck %s
// RUN: tally check %s --explore --max-trips=3 --no-distances --sync=per-loop | FileCheck %s
// RUN: tally check %s --explore --max-trips=3 --no-distances --sync=per-engine | FileCheck %s
// CHECK: explore: yes: exact
// CHECK: all trips up to 3 (85 instances)
tally.kernel @nested {
  tally.engine "e0"
  tally.engine "e1"
  tally.engine "e2"
  tally.loop "A" trips "n" min 0 max 3 {
    tally.loop "B" trips "m" min 0 max 3 {
      tally.instr "a0" on "e0"
      tally.instr "a1" on "e0"
      tally.instr "a2" on "e0"
      tally.instr "b0" on "e1"
      tally.instr "b1" on "e1"
      tally.instr "b2" on "e1"
      tally.instr "c0" on "e2"
      tally.instr "c1" on "e2"
    }
  }
  tally.dep "a0" -> "b0"
  tally.dep "b1" -> "c0"
  tally.dep "b0" -> "a0" at "B" = 2
  tally.dep "a2" -> "c1"
  tally.dep "c1" -> "a1" flat 3
}
