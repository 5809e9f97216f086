// A mend that takes what another has made, here a counter, says what that is: a mend may be read alone.
//
// RUN: not tally check %s --race 2>&1 | FileCheck %s
// CHECK: note: mend: let 'use0' on 'act' wait for 'full0' >= "count", not "r", where "count" counts the runs of 'use0' from 1;
// CHECK: note: mend: let 'use1' on 'act' wait for 'full1' >= "count", not "r", where "count" counts the runs of 'use0' from 1;
// CHECK: verdict: no
//
// A register that has this name already is another one.
// RUN: sed 's/"r"/"count"/g' %s > %t.mlir
// RUN: not tally check %t.mlir --race 2>&1 | FileCheck %s --check-prefix=TAKEN
// TAKEN: note: mend: let 'use0' on 'act' wait for 'full0' >= "count2", not "count", where "count2" counts the runs of 'use0' from 1;

tally.kernel @two {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [2]
  tally.loop "A" trips "n" {
    tally.instr "load0" on "dma" writes ["X[0]"]
    tally.instr "load1" on "dma" writes ["X[1]"]
    tally.instr "use0" on "act" reads ["X[0]"]
    tally.instr "use1" on "act" reads ["X[1]"]
  }
}
tally.code @two {
  tally.semaphore "full0"
  tally.semaphore "full1"
  tally.semaphore "free0"
  tally.semaphore "free1"
  tally.program "dma" {
    tally.register "r"
    tally.set "r" = 0
    tally.signal "free0"
    tally.signal "free1"
    tally.for "A" {
      tally.set "r" = "r" + 1
      tally.issue "load0" waits "free0" >= "r" signals "full0"
      tally.issue "load1" waits "free1" >= "r" signals "full1"
    }
  }
  tally.program "act" {
    tally.register "r"
    tally.set "r" = 0
    tally.for "A" {
      tally.set "r" = "r" - 1
      tally.issue "use0" waits "full0" >= "r" signals "free0"
      tally.issue "use1" waits "full1" >= "r" signals "free1"
    }
  }
}
