// A dependence is missing between two runs that random decisions hardly ever reach: the branches that
// lead to both are taken on purpose.
//
// RUN: not tally compile %s --certify -o /dev/null 2>&1 | FileCheck %s
// CHECK: error: the dependences that are written do not imply 'w' -> 'r'
// CHECK-SAME: and the code races for that
// CHECK-NOT: certified

tally.kernel @k {
  tally.engine "a"
  tally.engine "b"
  tally.buffer "X" shape [4]
  tally.buffer "Y" shape [4]
  tally.if "c1" { tally.if "c2" { tally.if "c3" { tally.if "c4" { tally.if "c5" {
    tally.instr "w" on "a" writes ["X"]
  } } } } }
  tally.if "d1" {} else { tally.if "d2" { tally.if "d3" {} else { tally.if "d4" { tally.if "d5" {
    tally.instr "r" on "b" reads ["X"]
  } } } } }
  tally.instr "p" on "a" writes ["Y"]
  tally.instr "q" on "b" reads ["Y"]
  tally.dep "p" -> "q"
}
