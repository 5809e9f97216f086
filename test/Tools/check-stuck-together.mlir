// RUN: tally check %s --trips=A=3 --trips=B@e0=2 --trips=B@e1=3 --race | FileCheck %s
// RUN: tally check %s --trips=A=3 --trips=B@e0=2 --trips=B@e1=3 --explore | FileCheck %s --check-prefix=EXPLORE
// RUN: tally check %s --trips=A=3 --trips=B@e0=2 --trips=B@e1=3 --race --format=json | FileCheck %s --check-prefix=JSON

// The consumer's engine counts more runs than the producer has, so the dependence itself is never
// satisfied. Code that waits for ever then does what it is asked to; both checks say so.

// CHECK-NOT: error
// CHECK:     race:    yes
// CHECK:     the dependences themselves let no engine go on; that is not a fault of the code
// EXPLORE:   explore: yes: exact
// EXPLORE:   the dependences themselves let no engine go on; that is not a fault of the code
// JSON:      "stuck_together": true

tally.kernel @apart {
  tally.engine "e0"
  tally.engine "e1"
  tally.loop "A" trips "n" max 5 {
    tally.loop "B" trips "m" max 9 divergent {
      tally.instr "P" on "e0"
    }
    tally.instr "C" on "e1"
  }
  tally.dep "P" -> "C" allow_divergent
}
