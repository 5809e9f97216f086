// RUN: tally check %s --race | FileCheck %s
// RUN: sed 's/"second" waits "baton" >= 1/"second"/' %s > %t && not tally check %t --race | FileCheck %s --check-prefix=WRONG

// Three engines write one buffer in turn. All raise one semaphore, each after a wait for the one before,
// so its value says whose turn it is.

// CHECK: verdict: yes

// If the second one does not wait, its raise may stand for that of the first.

// WRONG: error: race: nothing makes 'second', which writes M, wait for 'first', which writes it
// WRONG: note: mend: let 'second' on 'e1' wait for 'baton' >= 1;
// WRONG-NOT: error:
// WRONG: verdict: no

tally.kernel @baton {
  tally.engine "e0"
  tally.engine "e1"
  tally.engine "e2"
  tally.buffer "M"
  tally.instr "first" on "e0" writes ["M"]
  tally.instr "second" on "e1" writes ["M"]
  tally.instr "third" on "e2" writes ["M"]
  tally.instr "last" on "e0" writes ["M"]
}
tally.code @baton {
  tally.semaphore "baton"
  tally.program "e0" {
    tally.issue "first" signals "baton"
    tally.issue "last" waits "baton" >= 3
  }
  tally.program "e1" {
    tally.issue "second" waits "baton" >= 1 signals "baton"
  }
  tally.program "e2" {
    tally.issue "third" waits "baton" >= 2 signals "baton"
  }
}
