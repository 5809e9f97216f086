// RUN: tally check %s --race --machine=%S/../Inputs/in-order.json | FileCheck %s
// RUN: sed 's/by 1/by 2/' %s > %t && not tally check %t --race --machine=%S/../Inputs/in-order.json | FileCheck %s --check-prefix=WRONG

// A ring of two slots, the first of which is loaded ahead. So one slot is free when the loop begins,
// and "act" says so by a credit. Each further credit comes from an instruction of "act", after the first.

// CHECK: verdict: yes

// A second credit lets "load" write the slot that "use" of the same iteration still reads.

// WRONG: error: race: nothing makes 'load' (A = {{[0-9]+}}), which writes X[1], wait for 'use' (A = {{[0-9]+}}), which reads it
// WRONG: note: mend: let 'load' on 'dma' wait for 'free' >= "r" + 1, 1 more than now;
// WRONG-NOT: error:
// WRONG: verdict: no

tally.kernel @ring {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [2]
  tally.instr "first" on "dma" writes ["X[1]"]
  tally.loop "A" trips "n" {
    tally.instr "load" on "dma" writes ["X[A mod 2]"]
    tally.instr "use" on "act" reads ["X[(A + 1) mod 2]"]
  }
}
tally.code @ring {
  tally.semaphore "full"
  tally.semaphore "free"
  tally.program "dma" {
    tally.register "r"
    tally.set "r" = 0
    tally.issue "first" signals "full"
    tally.for "A" {
      tally.set "r" = "r" + 1
      tally.issue "load" waits "free" >= "r" signals "full"
    }
  }
  tally.program "act" {
    tally.register "r"
    tally.set "r" = 0
    tally.signal "free" by 1
    tally.for "A" {
      tally.set "r" = "r" + 1
      tally.issue "use" waits "full" >= "r" signals "free"
    }
  }
}
