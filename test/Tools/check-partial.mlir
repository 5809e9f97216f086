// RUN: bash %S/Inputs/status.sh 1 tally check %s --trips=warm=5 --witness=%t.json | FileCheck %s
// RUN: bash %S/Inputs/status.sh 1 tally check --replay=%t.json | FileCheck %s --check-prefix=REPLAYED
// RUN: bash %S/Inputs/status.sh 1 tally check --replay=%t-2.json | FileCheck %s --check-prefix=REPLAYED
// RUN: bash %S/Inputs/status.sh 1 tally check %s --trips=warm=5 --trips=i=3 --race | FileCheck %s --check-prefix=AGAIN
// RUN: bash %S/Inputs/status.sh 1 tally check %s --trips=warm=5 --format=json | FileCheck %s --check-prefix=JSON
// RUN: tally check %s --trips=w=5 --trips=n=2 | FileCheck %s --check-prefix=ALL
// RUN: tally check %s --trips=w=5 --trips=n=2 --format=json | FileCheck %s --check-prefix=ALLJSON
// RUN: tally check %s --trips=i=2 | FileCheck %s --check-prefix=SHORT
// RUN: tally sim %s --trips=warm=5 | FileCheck %s --check-prefix=SIM

// What is given is held, and the rest is chosen as if nothing were given.
//
// Wrong: 'p' at i = 2 overwrites X[0] while 'c' at i = 0 may still read it; that takes three
// iterations of 'i', whatever 'warm' does.

// CHECK:      with --trips=warm=5 --trips=i=3:
// CHECK:      error: 'p' at i = 2 may be issued before 'c' has retired 1 time
// CHECK:      explore: no: early
// CHECK-NEXT: with --trips=warm=5 given, all trips up to 2, and around distances (4 instances)
// CHECK:      with --trips=warm=5 --trips=i=3:
// CHECK:      error: race: nothing makes 'p' (i = 2)
// CHECK:      race: no:
// CHECK-NEXT: choices of trips
// CHECK-NEXT: with --trips=warm=5 given, tried: trips of 'i' up to 9
// CHECK:      verdict: no

// REPLAYED: error: race: nothing makes 'p' (i = 2)
// AGAIN:     error: race: nothing makes 'p' (i = 2)
// AGAIN:     the given trips, 1 schedule

// JSON:      "given": {
// JSON-NEXT:   "trips": [
// JSON-NEXT:     "warm=5"
// JSON-NEXT:   ],
// JSON-NEXT:   "guards": null
// JSON:      "trips": [
// JSON-NEXT:   "warm=5",
// JSON-NEXT:   "i=3"
// JSON-NEXT: ]
// JSON:      "tried": {
// JSON-NEXT:   "trips": [
// JSON-NEXT:     {
// JSON-NEXT:       "loop": "i",
// JSON-NEXT:       "trips": 9
// JSON-NEXT:     }
// JSON-NEXT:   ],

// ALL:      explore: yes:
// ALL-NEXT: the given trips (1 instance)
// ALL:      race: yes:
// ALL-NEXT: the given trips, 1 schedule
// ALLJSON:  "tried": null

// 'warm' is open, and nothing goes wrong in two iterations of 'i'.
// SHORT:      explore: yes:
// SHORT-NEXT: with --trips=i=2 given, all trips up to 2
// SHORT:      race: yes:
// SHORT:      with --trips=i=2 given, tried: trips of 'warm' up to
// SHORT:      verdict: yes

// SIM: trips: warm=5; n=16 (not given)

tally.kernel @partial {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [2]
  tally.buffer "Y" shape [1]
  tally.loop "warm" trips "w" {
    tally.instr "z" on "act" reads ["Y[0]"]
  }
  tally.loop "i" trips "n" {
    tally.instr "p" on "dma" writes ["X[i mod 2]"]
    tally.instr "c" on "act" reads ["X[i mod 2]"]
  }
}

tally.code @partial {
  tally.semaphore "full"
  tally.program "dma" {
    tally.for "i" {
      tally.issue "p" signals "full"
    }
  }
  tally.program "act" {
    tally.register "t"
    tally.for "warm" {
      tally.issue "z"
    }
    tally.for "i" {
      tally.set "t" = "t" + 1
      tally.issue "c" waits "full" >= "t"
    }
  }
}
