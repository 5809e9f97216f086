// Nests side by side: loads tile by tile, then uses tile by tile. Each use waits for its own load.

// RUN: tally deps %s --machine=teaching | FileCheck %s --check-prefix=DEPS
// DEPS: kernel 'inStep'
// DEPS: 'c' -> 'p' element 0 at 'A' = 1 war exact
// DEPS: 'p' -> 'c' element 0 raw exact
// DEPS: kernel 'ahead'
// DEPS: 'p' -> 'c' element -4 raw exact

// Where both run equally often, the consumer counts its own runs; else, the number of its run is made of two iterations.
// RUN: tally explain %s --kernel=inStep --instr=c --machine=teaching 2>&1 | FileCheck %s --check-prefix=STEP
// STEP: run equally often in each iteration, so run number q of it needs run q, over the whole run
// STEP: threshold total(E)
// RUN: tally explain %s --kernel=ahead --instr=c --machine=teaching 2>&1 | FileCheck %s --check-prefix=AHEAD
// AHEAD: the first '4*trip(D) + trip(E)' runs of 'p' in that iteration
// AHEAD: A = 0, D = 0, E = 0 5
// AHEAD: A = 0, D = 0, E = 1 6

// Right and exact, in all orders and for all trips.
// RUN: tally check %s --sync=per-loop --explore --race --trips n=3 --trips m=2 --machine=teaching | FileCheck %s --check-prefix=RIGHT
// RUN: tally check %s --sync=auto --explore --race --trips n=3 --trips m=2 --machine=teaching | FileCheck %s --check-prefix=RIGHT
// RUN: tally check %s --sync=unrolled --kernel=fixed --explore --machine=teaching | FileCheck %s --check-prefix=FIXED
// RIGHT-COUNT-3: yes: exact: waits as long as its dependences ask
// FIXED: yes: exact

// The proof numbers no runs of a nest: the certificate says that code waits for more.
// RUN: tally compile %s --kernel=ahead --sync=per-loop --certify --machine=teaching -o %t.mlir 2>&1 | FileCheck %s --check-prefix=PROOF
// PROOF: certified: 'ahead'
// PROOF-SAME: by more than they ask for

// An inner loop whose trips only the run knows tells no numbers.
// RUN: not tally plan %S/Inputs/nest-of-unknown-trips.mlir --machine=teaching 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: 'c' waits for 'p' element by element, which needs the two in two loops, or nests of loops, of one body, or one of them directly there (in a nest, all inner loops have constant trips); use a distance on the loops around both

tally.kernel @inStep {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [8]
  tally.loop "A" trips "n" max 100 {
    tally.loop "B" trips 4 {
      tally.loop "C" trips 2 {
        tally.instr "p" on "dma" writes ["X[2*B + C]"]
      }
    }
    tally.loop "D" trips 2 {
      tally.loop "E" trips 4 {
        tally.instr "c" on "act" reads ["X[4*D + E]"]
      }
    }
  }
}

tally.kernel @ahead {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [5, 4]
  tally.loop "A" trips "n" max 100 {
    tally.loop "B" trips 5 {
      tally.loop "C" trips 4 {
        tally.instr "p" on "dma" writes ["X[B, C]"]
      }
    }
    tally.loop "D" trips "m" max 4 {
      tally.loop "E" trips 4 {
        tally.instr "c" on "act" reads ["X[D + 1, E]"]
      }
    }
  }
}

tally.kernel @fixed {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [4, 4]
  tally.loop "A" trips 2 {
    tally.loop "B" trips 4 {
      tally.loop "C" trips 4 {
        tally.instr "p" on "dma" writes ["X[B, C]"]
      }
    }
    tally.loop "D" trips 16 {
      tally.instr "c" on "act" reads ["X[D floordiv 4, D mod 4]"]
    }
  }
}
