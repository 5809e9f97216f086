// RUN: not tally check %s --race | FileCheck %s
// RUN: not tally check %s --explore --witness=%t.json | FileCheck %s --check-prefix=EXPLORE
// RUN: not tally check --replay=%t.json | FileCheck %s --check-prefix=REPLAY

// "load" waits for a slot that is free from the start: the two wait for each other.

// CHECK:      error: deadlock: 'use' on 'act' waits for 'full' >= 1, which holds 0, in A = 0
// CHECK-NEXT: note: 'full' could still be raised by 'dma' (by 1 in all), but there 'load' on 'dma' waits for 'free' >= 1, which holds 0
// CHECK-NEXT: note: 'free' could still be raised by 'act' (by 1 in all), but there 'use' on 'act' waits for 'full' >= 1, which holds 0
// CHECK-NEXT: note: the cycle: 'act' waits for 'dma' waits for 'act'
// CHECK:      race:    no
//
// EXPLORE:      with --trips=A=1:
// EXPLORE-NEXT: {{.*}}error: deadlock
// EXPLORE:      explore: no: deadlock: a schedule shows it
//
// REPLAY: act: at 'use', waits for 'full' >= 1, which holds 0
// REPLAY: dma: at 'load', waits for 'free' >= 1, which holds 0
// REPLAY: deadlock
// REPLAY: the cycle: 'act' waits for 'dma' waits for 'act'

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
  tally.semaphore "free"
  tally.program "act" {
    tally.register "r"
    tally.set "r" = 0
    tally.for "A" {
      tally.set "r" = "r" + 1
      tally.issue "use" waits "full" >= "r" signals "free"
    }
  }
  tally.program "dma" {
    tally.register "r"
    tally.set "r" = 0
    tally.for "A" {
      tally.set "r" = "r" + 1
      tally.issue "load" waits "free" >= "r" signals "full"
    }
  }
}
