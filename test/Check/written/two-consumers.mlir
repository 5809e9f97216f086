// RUN: tally check %s --race | FileCheck %s
// RUN: sed 's/"r" \* 2/"r" * 1/' %s > %t && not tally check %t --race | FileCheck %s --check-prefix=WRONG

// One slot, one producer, two consumers. Both consumers raise "free", in either order; the producer waits
// for both, which is all that can have come by then.

// CHECK: verdict: yes

// A wait for one token more each time passes when only one of the two has finished.

// WRONG: error: race: nothing makes 'load' (A = {{[0-9]+}}), which writes X, wait for '{{left|right}}'
// WRONG: note: mend: let 'load' on 'dma' wait for 'free' >= 2 * "r", not "t"; the check then no longer reports this, nor the race of 'right' and 'load', the race of 'load' and 'load'
// WRONG-NOT: error:
// WRONG: verdict: no

tally.kernel @two {
  tally.engine "dma"
  tally.engine "act"
  tally.engine "pool"
  tally.buffer "X"
  tally.loop "A" trips "n" {
    tally.instr "load" on "dma" writes ["X"]
    tally.instr "left" on "act" reads ["X"]
    tally.instr "right" on "pool" reads ["X"]
  }
}
tally.code @two {
  tally.semaphore "full"
  tally.semaphore "free"
  tally.program "dma" {
    tally.register "r"
    tally.register "t"
    tally.set "r" = 0
    tally.for "A" {
      tally.set "t" = "r" * 2
      tally.issue "load" waits "free" >= "t" signals "full"
      tally.set "r" = "r" + 1
    }
  }
  tally.program "act" {
    tally.register "r"
    tally.set "r" = 0
    tally.for "A" {
      tally.set "r" = "r" + 1
      tally.issue "left" waits "full" >= "r" signals "free"
    }
  }
  tally.program "pool" {
    tally.register "r"
    tally.set "r" = 0
    tally.for "A" {
      tally.set "r" = "r" + 1
      tally.issue "right" waits "full" >= "r" signals "free"
    }
  }
}
