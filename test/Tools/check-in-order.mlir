// RUN: not tally check %s --machine=%S/Inputs/in-order.json --race | FileCheck %s
// RUN: not tally check %s --machine=%S/Inputs/in-order.json --explore --in-flight=3 | FileCheck %s --check-prefix=EXPLORE

// Instructions of this queue start one by one, which orders what they touch. The dependence asks
// that 'use' is issued after 'load' has retired, which only a wait makes sure of.

// CHECK:     error: unordered: 'use' (A = 0) does not wait for 'load' (A = 0), as the dependence 'load' -> 'use' asks
// CHECK-NOT: race:
// CHECK:     race:    no
// EXPLORE:   explore: no: early

tally.kernel @pipe {
  tally.engine "act"
  tally.buffer "X"
  tally.loop "A" trips 3 {
    tally.instr "load" on "act" writes ["X"]
    tally.instr "between" on "act" reads ["X"]
    tally.instr "use" on "act" reads ["X"]
  }
  tally.dep "load" -> "use"
}

tally.code @pipe {
  tally.program "act" {
    tally.for "A" {
      tally.issue "load"
      tally.issue "between"
      tally.issue "use"
    }
  }
}
