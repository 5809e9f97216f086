// RUN: tally check %s --race | FileCheck %s
// RUN: sed 's/"r" \* 3/"r" * 2/' %s > %t && not tally check %t --race | FileCheck %s --check-prefix=WRONG

// Three engines write their parts and raise one semaphore; what comes after the loop waits for all.

// CHECK: verdict: yes

// Two thirds of the raises may be all of two engines and none of the third.

// WRONG: error: race: nothing makes 'sum', which reads
// WRONG: note: mend: let 'sum' on 'last' wait for 'done' >= 3 * "r", not "t"; the check then no longer reports this, nor the race of 'b' and 'sum', the race of 'c' and 'sum'
// WRONG-NOT: error:
// WRONG: verdict: no

tally.kernel @gather {
  tally.engine "e0"
  tally.engine "e1"
  tally.engine "e2"
  tally.engine "last"
  tally.buffer "X" shape [3, 100]
  tally.loop "A" trips "n" min 1 max 90 {
    tally.instr "a" on "e0" writes ["X[0, A]"]
    tally.instr "b" on "e1" writes ["X[1, A]"]
    tally.instr "c" on "e2" writes ["X[2, A]"]
  }
  tally.instr "sum" on "last" reads ["X"]
}
tally.code @gather {
  tally.semaphore "done"
  tally.program "e0" {
    tally.for "A" {
      tally.issue "a" signals "done"
    }
  }
  tally.program "e1" {
    tally.for "A" {
      tally.issue "b" signals "done"
    }
  }
  tally.program "e2" {
    tally.for "A" {
      tally.issue "c" signals "done"
    }
  }
  tally.program "last" {
    tally.register "r"
    tally.register "t"
    tally.set "r" = 0
    tally.for "A" {
      tally.set "r" = "r" + 1
    }
    tally.set "t" = "r" * 3
    tally.issue "sum" waits "done" >= "t"
  }
}
