// RUN: tally check %s --race --guards=1 --trips=A=0 | FileCheck %s
// RUN: tally check %s --race --guards=1 --trips=A=0 --format=json | FileCheck %s --check-prefix=JSON

// What never ran was compared with nothing, and a yes to given trips says so.

// CHECK: race:    yes: {{.*}}; but 'load' never ran, which needs loop 'A' entered; 'use' never ran, which needs loop 'A' entered
// JSON:      "reason": "{{.*}}; but 'load' never ran, which needs loop 'A' entered; 'use' never ran, which needs loop 'A' entered"
// JSON-NEXT: "never_ran": [
// JSON-NEXT:   "load",
// JSON-NEXT:   "use"

tally.kernel @rare {
  tally.engine "act"
  tally.engine "dma"
  tally.buffer "X"
  tally.instr "first" on "act" reads ["X"]
  tally.loop "A" trips "n" {
    tally.instr "load" on "dma" writes ["X"]
    tally.instr "use" on "act" reads ["X"]
  }
}

tally.code @rare {
  tally.program "act" {
    tally.issue "first"
    tally.for "A" {
      tally.issue "use"
    }
  }
  tally.program "dma" {
    tally.for "A" {
      tally.issue "load"
    }
  }
}
