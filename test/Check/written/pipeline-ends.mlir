// RUN: tally check %s --race | FileCheck %s
// RUN: sed 's/"tail" waits "full" >= "r"/"tail" waits "full" >= 1/' %s > %t && not tally check %t --race | FileCheck %s --check-prefix=WRONG

// A software pipeline by hand: two loads before the loop, two uses after it. One register counts the uses
// over the loop and what follows.

// CHECK: verdict: yes

// A threshold that starts over after the loop lets the first use there read what is still on its way.

// WRONG: error: race: nothing makes 'tail' ({{.*}}), which reads X[{{.}}], wait for
// WRONG: note: mend: let 'tail' on 'act' wait for 'full' >= "r", not 1; the check then no longer reports this, nor the race of 'head2' and 'tail'
// WRONG-NOT: error:
// WRONG: verdict: no

tally.kernel @pipeline {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [3]
  tally.instr "head1" on "dma" writes ["X[0]"]
  tally.instr "head2" on "dma" writes ["X[1]"]
  tally.loop "A" trips "n" max 1000 {
    tally.instr "use" on "act" reads ["X[A mod 3]"]
    tally.instr "load" on "dma" writes ["X[(A + 2) mod 3]"]
  }
  tally.loop "B" trips 2 {
    tally.instr "tail" on "act" reads ["X"]
  }
}
tally.code @pipeline {
  tally.semaphore "full"
  tally.semaphore "free"
  tally.program "dma" {
    tally.register "r"
    tally.set "r" = 0
    tally.signal "free"
    tally.issue "head1" signals "full"
    tally.issue "head2" signals "full"
    tally.for "A" {
      tally.set "r" = "r" + 1
      tally.issue "load" waits "free" >= "r" signals "full"
    }
    tally.for "B" {
    }
  }
  tally.program "act" {
    tally.register "r"
    tally.set "r" = 0
    tally.for "A" {
      tally.set "r" = "r" + 1
      tally.issue "use" waits "full" >= "r" signals "free"
    }
    tally.set "r" = "r" + 2
    tally.for "B" {
      tally.issue "tail" waits "full" >= "r"
    }
  }
}
