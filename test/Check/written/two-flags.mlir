// RUN: tally check %s --race | FileCheck %s
// RUN: sed 's/"use1" waits "full1"/"use1" waits "full0"/' %s > %t && not tally check %t --race | FileCheck %s --check-prefix=WRONG

// Two slots with a semaphore each, used in turn: the body of the loop does both.

// CHECK: verdict: yes

// The second use asks for the semaphore of the first slot, which says nothing of the second.

// WRONG: error: race: nothing makes 'use1' (A = {{[0-9]+}}), which reads X[1], wait for 'load1' (A = {{[0-9]+}}), which writes it
// WRONG: note: mend: let 'use1' on 'act' wait for 'full1' >= "r", too;
// WRONG-NOT: error:
// WRONG: verdict: no

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
      tally.set "r" = "r" + 1
      tally.issue "use0" waits "full0" >= "r" signals "free0"
      tally.issue "use1" waits "full1" >= "r" signals "free1"
    }
  }
}
