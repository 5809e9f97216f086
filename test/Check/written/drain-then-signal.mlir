// RUN: tally check %s --race | FileCheck %s
// RUN: sed '/tally.drain/d' %s > %t && not tally check %t --race | FileCheck %s --check-prefix=WRONG

// The store stands in a branch. Where it does not run, the engine raises the semaphore itself, after all
// its stores have finished. So each raise comes after the one before it.

// CHECK: verdict: yes

// Without the drain the engine's raise may come before that of an earlier store, and stand for it.

// WRONG: error: race: nothing makes 'read' (A = {{[0-9]+}}), which reads M, wait for 'store' (A = {{[0-9]+}}), which writes it
// WRONG: note: mend: let 'act' drain before it raises 'stored', after 'store';
// WRONG-NOT: error:
// WRONG: verdict: no

tally.kernel @branch {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "M"
  tally.loop "A" trips "n" {
    tally.instr "read" on "dma" reads ["M"]
    tally.if "c" {
      tally.instr "store" on "act" writes ["M"]
    }
  }
}
tally.code @branch {
  tally.semaphore "done"
  tally.semaphore "stored"
  tally.program "dma" {
    tally.register "r"
    tally.set "r" = 0
    tally.for "A" {
      tally.issue "read" waits "stored" >= "r" signals "done"
      tally.set "r" = "r" + 1
    }
  }
  tally.program "act" {
    tally.register "r"
    tally.set "r" = 0
    tally.for "A" {
      tally.set "r" = "r" + 1
      tally.branch "c" {
        tally.issue "store" waits "done" >= "r" signals "stored"
      } else {
        tally.drain
        tally.signal "stored"
      }
    }
  }
}
