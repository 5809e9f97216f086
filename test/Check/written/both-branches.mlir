// RUN: tally check %s --race | FileCheck %s
// RUN: sed 's/"slow" signals "ready"/"slow"/' %s > %t && not tally check %t --race | FileCheck %s --check-prefix=WRONG

// One of two instructions fills the slot, whichever branch runs, and each of them says so.

// CHECK: verdict: yes

// If one of them raises nothing, "use" waits for ever.

// WRONG: error: deadlock: 'use' on 'act' waits for 'ready' >= 1, which holds 0
// WRONG: note: mend: let 'slow' on 'dma' raise 'ready'; the check then no longer reports this, nor the deadlock of 'dma'
// WRONG-NOT: error:
// WRONG: verdict: no

tally.kernel @either {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X"
  tally.loop "A" trips "n" {
    tally.if "c" {
      tally.instr "fast" on "dma" writes ["X"]
    } else {
      tally.instr "slow" on "dma" writes ["X"]
    }
    tally.instr "use" on "act" reads ["X"]
  }
}
tally.code @either {
  tally.semaphore "ready"
  tally.semaphore "free"
  tally.program "dma" {
    tally.register "r"
    tally.set "r" = 0
    tally.signal "free"
    tally.for "A" {
      tally.set "r" = "r" + 1
      tally.wait "free" >= "r"
      tally.branch "c" {
        tally.issue "fast" signals "ready"
      } else {
        tally.issue "slow" signals "ready"
      }
    }
  }
  tally.program "act" {
    tally.register "r"
    tally.set "r" = 0
    tally.for "A" {
      tally.set "r" = "r" + 1
      tally.issue "use" waits "ready" >= "r" signals "free"
    }
  }
}
