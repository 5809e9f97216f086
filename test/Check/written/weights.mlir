// RUN: tally check %s --race | FileCheck %s
// RUN: sed 's/"full" >= 2/"full" >= 1/' %s > %t && not tally check %t --race | FileCheck %s --check-prefix=WRONG

// The tile raises by 2, its header by 1, in either order. A value of 2 cannot come without the tile.

// CHECK: race:    yes: decided for every schedule
// CHECK: verdict: yes

// A value of 1 can.

// WRONG: error: race: nothing makes 'use', which reads X, wait for 'tile', which writes it
// WRONG: note: mend: let 'use' on 'act' wait for 'full' >= 2, 1 more than now;
// WRONG-NOT: error:
// WRONG: verdict: no

tally.kernel @weights {
  tally.engine "dma" queues ["small"]
  tally.engine "act"
  tally.buffer "X"
  tally.buffer "H"
  tally.instr "tile" on "dma" writes ["X"]
  tally.instr "header" on "small" writes ["H"]
  tally.instr "use" on "act" reads ["X"]
}
tally.code @weights {
  tally.semaphore "full"
  tally.program "dma" {
    tally.issue "tile" signals "full" by 2
    tally.issue "header" signals "full" by 1
  }
  tally.program "act" {
    tally.issue "use" waits "full" >= 2
  }
}
