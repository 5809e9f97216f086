// RUN: tally check %s --race | FileCheck %s
// RUN: sed -e '/EARLY$/d' -e 's@// LATE @@' %s > %t && not tally check %t --race | FileCheck %s --check-prefix=WRONG

// Flags that are set and cleared: each side waits for 1, clears the flag, and sets that of the other. A
// flag is cleared before its instruction is issued, which then lets the other side set it again.

// CHECK: verdict: yes

// If "act" clears "full" after it has issued "use", it may clear what the next load has set.

// WRONG: error: deadlock: the wait before 'use' on 'act' waits for 'full' >= 1, which holds 0
// WRONG: note: mend: let 'act' reset 'full' before it issues 'use', not after; the check then no longer reports this, nor the reset of 'full' and
// WRONG-NOT: error:
// WRONG: verdict: no

tally.kernel @flags {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X"
  tally.loop "A" trips "n" {
    tally.instr "load" on "dma" writes ["X"]
    tally.instr "use" on "act" reads ["X"]
  }
}
tally.code @flags {
  tally.semaphore "full"
  tally.semaphore "free"
  tally.program "dma" {
    tally.signal "free"
    tally.for "A" {
      tally.wait "free" >= 1
      tally.reset "free"
      tally.issue "load" signals "full"
    }
  }
  tally.program "act" {
    tally.for "A" {
      tally.wait "full" >= 1
      tally.reset "full" // EARLY
      tally.issue "use" signals "free"
      // LATE tally.reset "full"
    }
  }
}
