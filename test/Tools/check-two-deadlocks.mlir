// RUN: not tally check %s --race | FileCheck %s
// RUN: not tally check %s --race --format=json | %python -c "import json,sys; c=json.load(sys.stdin)['checks'][0]; r=[r for x in c['race']['runs'] for r in x['reports']]; assert [(x['kind'], x['cause'], x['folded'], x['facts']['engine']) for x in r]==[('deadlock', 1, False, 'c'), ('deadlock', 2, False, 'a')], r"

// "a" and "b" wait for each other, and "d" for them. "c" waits for more than ever comes, which is
// another cause.

// CHECK: error: deadlock: 'third' on 'c' waits for 'few' >= 2, which holds 0
// CHECK: note: 'few' could still be raised by 'a' (by 1 in all), which is not enough
// CHECK: note: mend: let
// CHECK: error: deadlock: 'first' on 'a' waits for 'fromB' >= 1, which holds 0
// CHECK: note: stuck behind it: 'fourth' on 'd' waits for 'fromB' >= 1, which holds 0
// CHECK: note: the cycle: 'a' waits for 'b' waits for 'a'
// CHECK: note: mend:
// CHECK: verdict: no

tally.kernel @two {
  tally.engine "a"
  tally.engine "b"
  tally.engine "c"
  tally.engine "d"
  tally.buffer "X" shape [4]
  tally.instr "first" on "a" writes ["X[0]"]
  tally.instr "second" on "b" writes ["X[1]"]
  tally.instr "third" on "c" writes ["X[2]"]
  tally.instr "fourth" on "d" reads ["X[1]"]
}
tally.code @two {
  tally.semaphore "fromA"
  tally.semaphore "fromB"
  tally.semaphore "few"
  tally.program "a" {
    tally.issue "first" waits "fromB" >= 1 signals "fromA"
    tally.signal "few"
  }
  tally.program "b" {
    tally.issue "second" waits "fromA" >= 1 signals "fromB"
  }
  tally.program "c" {
    tally.issue "third" waits "few" >= 2
  }
  tally.program "d" {
    tally.issue "fourth" waits "fromB" >= 1
  }
}
