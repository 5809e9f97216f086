// RUN: tally check %s --race | FileCheck %s --check-prefix=ALL
// RUN: tally check %s --race --trips=A=6 | FileCheck %s
// RUN: sed 's/"t" - 4/"t" - 5/' %s > %t && not tally check %t --race | FileCheck %s --check-prefix=WRONG

// Three slots and two consumers that raise one semaphore, in any order. Before iteration i (from 1) of
// "load" each of them has raised it i - 1 times at most. So 2 i - 4 shows that both have done i - 3.

// CHECK: race:    yes: decided for every schedule: the order holds however late a queue is
// CHECK: verdict: yes
// ALL: verdict: yes

// One less may be i - 1 of the one and i - 4 of the other.

// WRONG: error: race: nothing makes 'load' (A = {{[0-9]}}), which writes X[{{.}}], wait for '{{left|right}}'
// WRONG: note: mend: let 'load' on 'dma' wait for 'progress' >= 2 * "r" - 4, not "t"; the check then no longer reports this, nor the race of
// WRONG-NOT: error:
// WRONG: verdict: no

tally.kernel @window {
  tally.engine "dma"
  tally.engine "act"
  tally.engine "pool"
  tally.buffer "X" shape [3]
  tally.loop "A" trips "n" {
    tally.instr "load" on "dma" writes ["X[A mod 3]"]
    tally.instr "left" on "act" reads ["X[A mod 3]"]
    tally.instr "right" on "pool" reads ["X[A mod 3]"]
  }
}
tally.code @window {
  tally.semaphore "full"
  tally.semaphore "progress"
  tally.program "dma" {
    tally.register "r"
    tally.register "t"
    tally.set "r" = 0
    tally.for "A" {
      tally.set "r" = "r" + 1
      tally.set "t" = "r" * 2
      tally.set "t" = "t" - 4
      tally.issue "load" waits "progress" >= "t" signals "full"
    }
  }
  tally.program "act" {
    tally.register "r"
    tally.set "r" = 0
    tally.for "A" {
      tally.set "r" = "r" + 1
      tally.issue "left" waits "full" >= "r" signals "progress"
    }
  }
  tally.program "pool" {
    tally.register "r"
    tally.set "r" = 0
    tally.for "A" {
      tally.set "r" = "r" + 1
      tally.issue "right" waits "full" >= "r" signals "progress"
    }
  }
}
