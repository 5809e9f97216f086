// RUN: tally check %s --race | FileCheck %s
// RUN: sed '/TWO OF THREE/s/"r" + 3/"r" + 2/' %s > %t && not tally check %t --race | FileCheck %s --check-prefix=WRONG

// A barrier by hand: in each iteration all three engines raise one semaphore when their own instructions
// have finished, and wait for all three.

// CHECK: verdict: yes

// An engine that waits for two of three leaves before the last one has come.

// WRONG: error: race: nothing makes '{{[a-c]}}'
// WRONG: note: mend: let the wait before 'a' on 'e0' wait for 'here' >= 6 * "count" - 3, not "r",
// WRONG-NOT: error:
// WRONG: verdict: no

tally.kernel @meeting {
  tally.engine "e0"
  tally.engine "e1"
  tally.engine "e2"
  tally.buffer "X" shape [3]
  tally.loop "A" trips "n" {
    tally.instr "b" on "e1" writes ["X[1]"]
    tally.instr "c" on "e2" writes ["X[2]"]
    tally.instr "a" on "e0" reads ["X[1]", "X[2]"] writes ["X[0]"]
  }
}
tally.code @meeting {
  tally.semaphore "here"
  tally.program "e0" {
    tally.register "r"
    tally.set "r" = 0
    tally.for "A" {
      tally.set "r" = "r" + 3 // TWO OF THREE
      tally.drain
      tally.signal "here"
      tally.wait "here" >= "r"
      tally.issue "a"
      tally.set "r" = "r" + 3
      tally.drain
      tally.signal "here"
      tally.wait "here" >= "r"
    }
  }
  tally.program "e1" {
    tally.register "r"
    tally.set "r" = 0
    tally.for "A" {
      tally.set "r" = "r" + 3
      tally.issue "b"
      tally.drain
      tally.signal "here"
      tally.wait "here" >= "r"
      tally.set "r" = "r" + 3
      tally.signal "here"
      tally.wait "here" >= "r"
    }
  }
  tally.program "e2" {
    tally.register "r"
    tally.set "r" = 0
    tally.for "A" {
      tally.set "r" = "r" + 3
      tally.issue "c"
      tally.drain
      tally.signal "here"
      tally.wait "here" >= "r"
      tally.set "r" = "r" + 3
      tally.signal "here"
      tally.wait "here" >= "r"
    }
  }
}
