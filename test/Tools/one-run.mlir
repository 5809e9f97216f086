// A place that stays the same, next to a loop that walks: one of the two ends runs once.

// RUN: tally deps %s --machine=teaching | FileCheck %s --check-prefix=DEPS
// DEPS: kernel 'before'
// DEPS: 'c' -> 'p' element -3 at 'A' = 1 war exact
// DEPS: 'p' -> 'c' element 3 raw exact
// DEPS: kernel 'after'
// DEPS: 'p' -> 'p' at 'A' = 1 waw exact
// DEPS: 'c' -> 'p' element 1 at 'A' = 1 war exact
// DEPS: 'p' -> 'c' element -1 raw exact
// DEPS: kernel 'open'
// DEPS: 'p' -> 'c' element -1 raw exact

// In 'before', that 'p' waits for its last run follows: it waits for run 3 of 'c', which has waited for it.
// RUN: tally deps %s --kernel=before --machine=teaching --why=p,p 2>&1 | FileCheck %s --check-prefix=WHY
// WHY: implied by 'c' -> 'p' element -3 at 'A' = 1, 'p' -> 'c' element 3

// The last run of a nest has waited for what its later runs wait for: 'f' does not wait for itself.
// RUN: tally deps %s --kernel=last --machine=teaching | FileCheck %s --check-prefix=LAST
// LAST: 'f' -> 'w' element 1 at 'A' = 1 raw exact
// LAST-NEXT: 'w' -> 'f' war exact
// LAST-NOT: waw

// Constant trips: only what is around is counted. Others: no more runs than there are.
// RUN: tally explain %s --kernel=after --instr=c --machine=teaching --trips=n=2 2>&1 | FileCheck %s --check-prefix=AFTER
// AFTER: less the 14 runs after the one that is needed
// AFTER: threshold 16*total(A) - 14
// RUN: tally explain %s --kernel=open --instr=c --machine=teaching --trips n=2 --trips m=3 2>&1 | FileCheck %s --check-prefix=OPEN
// OPEN: the first '2' runs of 'p' in that iteration, or all it has
// OPEN: A = 0 2
// OPEN: A = 1 5
// RUN: tally explain %s --kernel=before --instr=c --machine=teaching --trips=n=2 2>&1 | FileCheck %s --check-prefix=BEFORE
// BEFORE: nothing is owed in the first 3 runs of this instruction in each iteration of 'A'
// BEFORE: threshold isGT(trip(B), 3)*total(A)

// Right and exact, in all orders and for all trips; nothing is left of the reason to wait longer.
// RUN: tally check %s --sync=per-loop --explore --race --trips n=2 --trips m=3 --machine=teaching | FileCheck %s --check-prefix=RIGHT
// RUN: tally check %s --sync=auto --explore --race --trips n=2 --trips m=2 --machine=teaching | FileCheck %s --check-prefix=RIGHT
// RIGHT-COUNT-4: yes: exact: waits as long as its dependences ask
// RUN: tally compile %s --machine=teaching -o %t.mlir 2>&1 | FileCheck %s --check-prefix=LONGER --allow-empty
// LONGER-NOT: longer

// The proof numbers runs of two loops only.
// RUN: tally compile %s --kernel=after --certify --machine=teaching -o %t.mlir 2>&1 | FileCheck %s --check-prefix=PROOF
// PROOF: certified: 'after'
// PROOF-SAME: by more than they ask for

tally.kernel @before {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [16]
  tally.loop "A" trips "n" max 9 {
    tally.instr "p" on "dma" writes ["X[3]"]
    tally.loop "B" trips 16 {
      tally.instr "c" on "act" reads ["X[B]"]
    }
  }
}

tally.kernel @after {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [16]
  tally.loop "A" trips "n" max 9 {
    tally.loop "B" trips 16 {
      tally.instr "p" on "dma" writes ["X[B]"]
    }
    tally.instr "c" on "act" reads ["X[1]"]
  }
}

tally.kernel @open {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [16]
  tally.loop "A" trips "n" max 9 {
    tally.loop "B" trips "m" min 2 max 16 {
      tally.instr "p" on "dma" writes ["X[B]"]
    }
    tally.instr "c" on "act" reads ["X[1]"]
  }
}

tally.kernel @last {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [4]
  tally.loop "A" trips 3 {
    tally.loop "B" trips 2 {
      tally.instr "w" on "dma" reads ["X[B]"]
    }
    tally.instr "f" on "act" writes ["X[1]"]
  }
}
