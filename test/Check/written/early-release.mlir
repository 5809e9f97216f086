// RUN: tally check %s --race | FileCheck %s
// RUN: sed '/tally.drain/d' %s > %t && not tally check %t --race | FileCheck %s --check-prefix=WRONG

// The consumer gives the slot back by an operation of its own, once its instruction has finished.

// CHECK: verdict: yes

// Without the drain it gives the slot back as soon as the instruction is issued.

// WRONG: error: race: nothing makes 'load' (A = {{[0-9]+}}), which writes X, wait for 'use' (A = {{[0-9]+}}), which reads it
// WRONG: note: mend: let 'act' drain before it raises 'free', after 'use';
// WRONG-NOT: error:
// WRONG: verdict: no

tally.kernel @release {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X"
  tally.loop "A" trips "n" {
    tally.instr "load" on "dma" writes ["X"]
    tally.instr "use" on "act" reads ["X"]
  }
}
tally.code @release {
  tally.semaphore "full"
  tally.semaphore "free"
  tally.program "dma" {
    tally.register "r"
    tally.set "r" = 0
    tally.signal "free"
    tally.for "A" {
      tally.set "r" = "r" + 1
      tally.issue "load" waits "free" >= "r" signals "full"
    }
  }
  tally.program "act" {
    tally.register "r"
    tally.set "r" = 0
    tally.for "A" {
      tally.set "r" = "r" + 1
      tally.issue "use" waits "full" >= "r"
      tally.drain
      tally.signal "free"
    }
  }
}
