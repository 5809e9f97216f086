// Instances in which a queue was full are explored with more in flight, however many they are.

// RUN: tally check %s --explore --quiet | FileCheck %s
// CHECK: explore: yes: exact: waits as long as its dependences ask
// CHECK-NEXT: at most 8 in flight on a queue
// RUN: not tally check %s --explore --quiet --max-states=300000 | FileCheck %s --check-prefix=BOUNDED
// BOUNDED: explore: could not decide: with 4 in flight, queues {{.*}} were full at times

tally.kernel @either {
  tally.engine "vector"
  tally.engine "scalar"
  tally.engine "sync"
  tally.buffer "b" shape [4, 16]
  tally.loop "o" trips = "$m" max 9 {
    tally.loop "i" trips = "$m - o" {
      tally.if "c" {
        tally.instr "p" on "vector" writes ["b[i mod 4, 0:16]"]
      } else {
        tally.instr "q" on "scalar" writes ["b[i mod 4, 0:16]"]
      }
      tally.instr "u" on "sync" reads ["b[i mod 4, 0:16]"]
    }
  }
}
