// RUN: tally check %s --race | FileCheck %s
// RUN: sed '/THEN$/d' %s > %t.then.mlir
// RUN: not tally check %t.then.mlir --race | FileCheck %s --check-prefixes=WRONG,THEN
// RUN: sed '/ELSE$/d' %s > %t.else.mlir
// RUN: not tally check %t.else.mlir --race | FileCheck %s --check-prefixes=WRONG,ELSE

// A flag that both branches wait for and take down. If one of them does neither, one report tells what it
// lacks.

// CHECK: verdict: yes

// WRONG: error: race: nothing makes
// THEN: note: mend: let 'act' wait for 'full' >= 1 and reset it in the first branch of 'c', too; the check then no longer reports this, nor the
// ELSE: note: mend: let 'act' wait for 'full' >= 1 and reset it in the other branch of 'c', too; the check then no longer reports this, nor the
// WRONG-NOT: error:
// WRONG: verdict: no

tally.kernel @flag {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X"
  tally.loop "A" trips "n" max 4 {
    tally.instr "load" on "dma" writes ["X"]
    tally.if "c" {
      tally.instr "double" on "act" reads ["X"]
    } else {
      tally.instr "halve" on "act" reads ["X"]
    }
    tally.instr "clear" on "act" writes ["X"]
  }
}
tally.code @flag {
  tally.semaphore "full"
  tally.semaphore "free"
  tally.program "dma" {
    tally.for "A" {
      tally.issue "load" signals "full"
      tally.wait "free" >= 1
      tally.reset "free"
    }
  }
  tally.program "act" {
    tally.for "A" {
      tally.branch "c" {
        tally.wait "full" >= 1 // THEN
        tally.reset "full" // THEN
        tally.issue "double"
      } else {
        tally.wait "full" >= 1 // ELSE
        tally.reset "full" // ELSE
        tally.issue "halve"
      }
      tally.drain
      tally.issue "clear" signals "free"
    }
  }
}
