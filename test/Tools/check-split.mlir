// RUN: not tally check %s --race --trips=A=2 | FileCheck %s
// RUN: tally check %s --race --trips=A=1 | FileCheck %s --check-prefix=ONE

// A load arrives on two rings, each of which raises by 1. The second load may be ahead on one of them,
// so 2 is reached although the first one has not arrived whole. A single load has nobody ahead.

// CHECK: error: race: nothing makes 'use' (A = 0), which reads X[0], wait for 'load' (A = 0), which writes it
// CHECK: note: 'use' waits for 'full' >= 2, but that may come from parts of later instructions of 'dma', which completes in parts
// CHECK: verdict: no
// ONE: verdict: yes

tally.kernel @split {
  tally.engine "act"
  tally.engine "dma" weight 2 split
  tally.buffer "X" shape [4]
  tally.loop "A" trips "n" max 4 {
    tally.instr "load" on "dma" writes ["X[A]"]
    tally.instr "use" on "act" reads ["X[A]"]
  }
}

tally.code @split {
  tally.semaphore "full"
  tally.program "act" {
    tally.register "r"
    tally.set "r" = 0
    tally.for "A" {
      tally.set "r" = "r" + 2
      tally.issue "use" waits "full" >= "r"
    }
  }
  tally.program "dma" {
    tally.for "A" {
      tally.issue "load" signals "full" by 2
    }
  }
}
