// Dependences that wait longer for one reason are told in one remark.

// RUN: tally plan %s 2>&1 >/dev/null | FileCheck %s
// CHECK: remark: 'p1' -> 'p1' at 'o' = 1, all of 'i' waits longer than it has to: the distance on loop 'o' crosses whole runs of the inner loop 'i'{{.*}}; so do {{[0-9]+}} other dependences, for the same reason
// CHECK-NOT: waits longer than it has to

tally.kernel @rep {
  tally.engine "vector"
  tally.engine "scalar"
  tally.engine "sync"
  tally.buffer "b" shape [4, 16]
  tally.loop "o" trips "m" max 50 {
    tally.loop "i" trips "n" {
      tally.if "c1" { tally.instr "p1" on "vector" writes ["b[i mod 4, 0:16]"] }
      tally.if "c2" { tally.instr "p2" on "scalar" writes ["b[i mod 4, 0:16]"] }
      tally.if "c3" { tally.instr "p3" on "sync" writes ["b[i mod 4, 0:16]"] }
    }
  }
}
