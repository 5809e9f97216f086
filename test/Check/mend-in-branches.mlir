// A change that helps in the runs that show a fault may hold others up: it is tried on all runs of the check. Here a count
// of 'hit' would do where 'dense' is taken as well, and wait for ever where it is not.
//
// RUN: not tally check %s --race 2>&1 | FileCheck %s
// CHECK: error: unordered: 'load' (b = 1) does not wait for 'use' (b = 0)
// CHECK: note: mend: let 'load' on 'sync' wait for 'dense.vector' >= "r2", too
// CHECK: verdict: no
//
// RUN: sed -e 's/^ *tally.issue "load"/tally.wait "dense.vector" >= "r2"\n&/' %s > %t.mlir
// RUN: tally check %t.mlir --race | FileCheck %s --check-prefix=MENDED
// MENDED: verdict: yes

tally.kernel @branches {
  tally.engine "sync"
  tally.engine "vector"
  tally.buffer "x" shape [2]
  tally.loop "b" trips "n" max 64 {
    tally.if "hit" {
      tally.instr "load" on "sync" writes ["x[total(hit) mod 2]"]
      tally.if "dense" {
        tally.instr "use" on "vector" reads ["x[total(hit) mod 2]"]
      }
    }
  }
  tally.dep "load" -> "load" waw flat 2
  tally.dep "use" -> "load" war at "b" = 1
  tally.dep "load" -> "use" raw
}

tally.code @branches strategy "manual" {
  tally.semaphore "hit.sync"
  tally.semaphore "dense.vector"
  tally.program "sync" {
    tally.register "r0"
    tally.register "r1"
    tally.register "r2"
    tally.register "r3"
    tally.register "r4"
    tally.set "r0" = 0
    tally.set "r1" = 0
    tally.set "r2" = 0
    tally.for "b" {
      tally.set "r0" = "r0" + 1
      tally.branch "hit" {
        tally.set "r1" = "r1" + 1
        tally.set "r3" = "r1" gt 2
        tally.set "r4" = "r1" - 2
        tally.set "r4" = "r3" * "r4"
        tally.issue "load" waits "hit.sync" >= "r4" signals "hit.sync"
        tally.branch "dense" {
          tally.set "r2" = "r2" + 1
        }
      }
    }
  }
  tally.program "vector" {
    tally.register "r0"
    tally.set "r0" = 0
    tally.for "b" {
      tally.branch "hit" {
        tally.set "r0" = "r0" + 1
        tally.branch "dense" {
          tally.issue "use" waits "hit.sync" >= "r0" signals "dense.vector"
        }
      }
    }
  }
}
