// Upstream passes improve the arithmetic, and keep what an engine does to the outside.
// RUN: tally-opt %s --tally-to-scf | FileCheck %s --check-prefix=KEEP
// RUN: tally-opt %s --tally-to-scf --cse --loop-invariant-code-motion --canonicalize --sccp --cse | FileCheck %s --check-prefixes=KEEP,BETTER

tally.kernel @k {
  tally.engine "e"
  tally.instr "first" on "e"
  tally.loop "A" trips "n" {
    tally.loop "B" trips "n" {
      tally.instr "x" on "e"
    }
    tally.if "c" {
      tally.instr "y" on "e"
    }
    tally.if "d" {
    }
    tally.loop "C" trips "n" {
    }
  }
}
tally.code @k {
  tally.semaphore "s"
  tally.semaphore "t"
  tally.program "e" {
    tally.register "r"
    tally.register "a"
    tally.register "b"
    tally.issue "first"
    tally.set "r" = 0
    tally.for "A" {
      tally.set "r" = "r" + 1
      tally.for "B" {
        tally.set "a" = "r" * 3
        tally.set "b" = "r" * 3
        tally.set "b" = "b" + 0
        tally.wait "s" >= "a"
        tally.wait "s" >= "a"
        tally.wait "t" >= "b"
        tally.issue "x" waits "s" >= 7 signals "t"
      }
      tally.branch "c" {
        tally.issue "y"
      }
      tally.branch "d" {
      }
      tally.signal "t"
      tally.signal "t"
      tally.drain
      tally.drain
      tally.reset "s"
      tally.reset "s"
      tally.for "C" {
      }
    }
  }
}

// The product is computed once, outside the inner loop. Equal waits, signals and resets
// stay as often as they were, in order; an empty loop is still entered, since that
// may count, and a guard is still asked.

// KEEP-LABEL:  func.func @k_e()
// KEEP:        tally.run "first"
// KEEP:        tally.trips "A" : index
// KEEP:        scf.for
// BETTER:        %[[R:.*]] = arith.addi
// KEEP:          tally.trips "B" : index
// BETTER-NEXT:   %[[P:.*]] = arith.muli %[[R]]
// BETTER-NOT:    arith.muli
// KEEP:          scf.for
// KEEP:            tally.await "s" >= %[[A:.*]] : i32
// KEEP-NEXT:       tally.await "s" >= %[[A]] : i32
// BETTER-NEXT:     tally.await "t" >= %[[P]] : i32
// KEEP:            tally.run "x" waits "s" >= %{{.*}} signals "t"
// KEEP:          tally.guard "c" : i1
// KEEP:          scf.if
// KEEP:            tally.run "y"
// KEEP:          tally.guard "d" : i1
// KEEP:          tally.signal "t"
// KEEP-NEXT:     tally.signal "t"
// KEEP-NEXT:     tally.drain
// KEEP-NEXT:     tally.drain
// KEEP-NEXT:     tally.reset "s"
// KEEP-NEXT:     tally.reset "s"
// KEEP:          tally.trips "C" : index
// KEEP:        return
