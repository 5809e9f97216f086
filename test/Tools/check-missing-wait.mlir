// RUN: not tally check %s --race --witness=%t.json | FileCheck %s
// RUN: not tally check --replay=%t.json | FileCheck %s --check-prefix=REPLAY
// RUN: not tally check %s --race --all | FileCheck %s --check-prefix=ALL
// RUN: not tally check %s --race --format=json | %python -c "import json,sys; c=json.load(sys.stdin)['checks'][0]; r=[r for x in c['race']['runs'] for r in x['reports']]; assert c['verdict']=='no'; assert [(x['cause'], x['folded'], x['mend'] and x['mend']['kind']) for x in r]==[(1, True, None), (1, False, 'wait')], r; assert [x['facts']['needs'] for x in r]==['tally.dep \"load\" -> \"load\" waw at \"A\" = 2', 'tally.dep \"use\" -> \"load\" war at \"A\" = 2'], r"

// Nobody keeps "load" from overwriting the slot that "use" may still read.

// CHECK:      with --trips=A=3:
// CHECK-NEXT: error: race: nothing makes 'load' (A = 2), which writes X[0], wait for 'use' (A = 0), which reads it
// CHECK-NEXT: note: 'use' is here
// CHECK-NEXT: note: 'use' raises no semaphore that 'load' could wait for; let it raise one
// CHECK-NEXT: note: the kernel has the dependence 'use' -> 'load' at 'A' = 2
// CHECK-NEXT: note: mend: let 'use' on 'act' raise a new semaphore 'use.done', and let 'load' on 'dma' wait for 'use.done' >= "count" - 2, where "count" counts the runs of 'load' from 1; the check then no longer reports this, nor the race of 'load' and 'load'
// CHECK-NOT:  error:
// CHECK:      race:    no
// CHECK:      verdict: no
//
// A load also overwrites what an earlier one still writes; a wait for "use", which waits for that one,
// orders both.
//
// ALL: error: race: nothing makes 'load' (A = 2), which writes X[0], wait for 'load' (A = 0), which writes it
// ALL: note: 'load' has to wait for 'full' >= 1; it waits for nothing
// ALL: note: the dependence it would need: tally.dep "load" -> "load" waw at "A" = 2
// ALL: note: has the cause of the race of 'use' and 'load'
// ALL: error: race: nothing makes 'load' (A = 2), which writes X[0], wait for 'use' (A = 0), which reads it
//
// Both are in flight at the end of the schedule, which was cut down to what leads there.
//
// REPLAY:      12 of 12 steps performed
// REPLAY-NEXT: act: between instructions; in flight 'use'
// REPLAY-NEXT: dma: between instructions; in flight 'load', 'load'
// REPLAY:      wait for 'use' (A = 0), which reads it
// REPLAY:      verdict: no

tally.kernel @pipe {
  tally.engine "act"
  tally.engine "dma"
  tally.buffer "X" shape [2]
  tally.loop "A" trips "n" min 0 max 1000 {
    tally.instr "load" on "dma" writes ["X[A mod 2]"]
    tally.instr "use" on "act" reads ["X[A mod 2]"]
  }
  tally.dep "load" -> "use" raw
  tally.dep "use" -> "load" war at "A" = 2
}
tally.code @pipe {
  tally.semaphore "full"
  tally.program "act" {
    tally.register "r"
    tally.set "r" = 0
    tally.for "A" {
      tally.set "r" = "r" + 1
      tally.issue "use" waits "full" >= "r"
    }
  }
  tally.program "dma" {
    tally.for "A" {
      tally.issue "load" signals "full"
    }
  }
}
