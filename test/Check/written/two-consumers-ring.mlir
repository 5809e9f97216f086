// RUN: tally check %s --race | FileCheck %s
// RUN: sed -e 's/"right" waits "full" >= "r" signals "drained"/"right" waits "full" >= "r" signals "free"/' -e 's/"free" by 2/"free" by 4/' -e 's/wait "free" >= "r"/wait "free" >= "t"/' -e 's/"load" waits "drained" >= "r"/"load"/' %s > %t
// RUN: not tally check %t --race --trips=A=4 | FileCheck %s --check-prefix=WRONG

// A ring of two slots with two consumers, each of which gives credits on a semaphore of its own.

// CHECK: verdict: yes

// On one semaphore, with twice the threshold, the consumer that is ahead can give the credits of the
// other: "left" of two iterations raises by 2, as do "left" and "right" of the first.

// WRONG: error: race: nothing makes 'load' (A = {{[0-9]+}}), which writes X[0], wait for '{{left|right}}' (A = {{[0-9]+}}), which reads it
// WRONG: note: mend: let the wait before 'load' on 'dma' wait for 'free' >= "t" + 1, 1 more than now; the check then no longer reports this, nor the race of
// WRONG-NOT: error:
// WRONG: verdict: no

tally.kernel @two {
  tally.engine "dma"
  tally.engine "act"
  tally.engine "pool"
  tally.buffer "X" shape [2]
  tally.loop "A" trips "n" {
    tally.instr "load" on "dma" writes ["X[A mod 2]"]
    tally.instr "left" on "act" reads ["X[A mod 2]"]
    tally.instr "right" on "pool" reads ["X[A mod 2]"]
  }
}
tally.code @two {
  tally.semaphore "full"
  tally.semaphore "free"
  tally.semaphore "drained"
  tally.program "dma" {
    tally.register "r"
    tally.register "t"
    tally.set "r" = 0
    tally.signal "free" by 2
    tally.signal "drained" by 2
    tally.for "A" {
      tally.set "r" = "r" + 1
      tally.set "t" = "r" * 2
      tally.wait "free" >= "r"
      tally.issue "load" waits "drained" >= "r" signals "full"
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
      tally.issue "right" waits "full" >= "r" signals "drained"
    }
  }
}
