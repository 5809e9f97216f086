// RUN: tally check %s --race | FileCheck %s
// RUN: sed 's/"free" by 1/"free" by 2/' %s > %t && not tally check %t --race | FileCheck %s --check-prefix=WRONG

// A load arrives in two parts, each of which raises by 1. With one load in flight at a time, twice the
// number of the iteration is all that can have come.

// CHECK: verdict: yes

// With two credits the next load may be ahead on one of the rings.

// WRONG: error: race: nothing makes 'use' (A = {{[0-9]+}}), which reads X[0], wait for 'load' (A = {{[0-9]+}}), which writes it
// WRONG: note: mend: let 'dma' raise 'free' by 1, not 2, before 'load';
// WRONG-NOT: error:
// WRONG: verdict: no

tally.kernel @parts {
  tally.engine "dma" weight 2 split
  tally.engine "act"
  tally.buffer "X" shape [4]
  tally.loop "A" trips "n" max 1000 {
    tally.instr "load" on "dma" writes ["X[A mod 4]"]
    tally.instr "use" on "act" reads ["X[A mod 4]"]
  }
}
tally.code @parts {
  tally.semaphore "full"
  tally.semaphore "free"
  tally.program "dma" {
    tally.register "r"
    tally.set "r" = 0
    tally.signal "free" by 1
    tally.for "A" {
      tally.set "r" = "r" + 1
      tally.issue "load" waits "free" >= "r" signals "full" by 2
    }
  }
  tally.program "act" {
    tally.register "r"
    tally.set "r" = 0
    tally.for "A" {
      tally.set "r" = "r" + 2
      tally.issue "use" waits "full" >= "r" signals "free"
    }
  }
}
