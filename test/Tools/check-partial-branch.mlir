// RUN: bash %S/Inputs/status.sh 1 tally check %s --trips=q=1,0 --witness=%t.json | FileCheck %s
// RUN: bash %S/Inputs/status.sh 1 tally check --replay=%t-2.json | FileCheck %s --check-prefix=REPLAYED
// RUN: bash %S/Inputs/status.sh 1 tally check %s --trips=i=3 | FileCheck %s --check-prefix=LOOP
// RUN: bash %S/Inputs/status.sh 1 tally check %s --guards=3 --race | FileCheck %s --check-prefix=SEED
// RUN: tally check %s --trips=q=1 --race | FileCheck %s --check-prefix=TAKEN
// RUN: tally check %s --trips=q=0 --race | FileCheck %s --check-prefix=LEFT

// A branch is given and the loop around it is not, or the other way round; or a seed gives the
// branch.
//
// Wrong: where 'q' is not taken, 'act' raises 'free' with nothing in flight, so a slow 'c' before
// it has not raised its own, and 'p' takes that one for it.

// CHECK:      with --trips=q=1,0 --trips=i=3:
// CHECK:      with --trips=q=1,0 given, all trips up to 2, and around distances
// CHECK:      with --trips=q=1,0 --trips=i=3:
// CHECK:      error: race: nothing makes 'p' (i = 2), which writes X[0], wait for 'c' (i = 0)
// CHECK:      with --trips=q=1,0 given, tried: trips of 'i' up to 9{{$}}
// CHECK-NEXT: verdict: no
// REPLAYED:   error: race: nothing makes 'p' (i = 2)

// LOOP:       error: race: nothing makes 'p' (i = 2)
// LOOP:       with --trips=i=3 given, tried: 2 of 2 decisions
// SEED:       with --trips=i={{[0-9]+}} --guards=3:
// SEED:       with --guards=3 given, tried: trips of 'i' up to 9{{$}}

// TAKEN:      race: yes:
// TAKEN:      with --trips=q=1 given, tried: trips of 'i' up to
// LEFT:       race: yes: {{.*}}; but 'c' never ran, which needs loop 'i' entered, branch 'q' taken
// LEFT:       with --trips=q=0 given, tried: trips of 'i' up to

tally.kernel @branch {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [2]
  tally.loop "i" trips "n" {
    tally.instr "p" on "dma" writes ["X[i mod 2]"]
    tally.if "q" {
      tally.instr "c" on "act" reads ["X[i mod 2]"]
    }
  }
}

tally.code @branch {
  tally.semaphore "full"
  tally.semaphore "free"
  tally.program "dma" {
    tally.register "t"
    tally.register "w"
    tally.for "i" {
      tally.set "t" = "t" + 1
      tally.set "w" = "t" - 2
      tally.issue "p" waits "free" >= "w" signals "full"
    }
  }
  tally.program "act" {
    tally.register "t"
    tally.for "i" {
      tally.set "t" = "t" + 1
      tally.branch "q" {
        tally.issue "c" waits "full" >= "t" signals "free"
      } else {
        tally.wait "full" >= "t"
        tally.signal "free"
      }
    }
  }
}
