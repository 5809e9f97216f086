// Credits that are signalled before the loop count beside those of the runs: the note says whose they are.
// RUN: not tally check %s --race 2>&1 | FileCheck %s
// CHECK: note: 'load' waits for 'free' >= 3, but a signal in the code of 'act' raises it, too, and may be what the wait has counted
//
// Where less is asked for than even the producer brings, the credits make the number that is enough unknown: a run is named.
// RUN: sed 's/"free" >= "c"/"free" >= 0/' %s > %t.mlir
// RUN: not tally check %t.mlir --race 2>&1 | FileCheck %s --check-prefix=LESS
// LESS: note: 'load' has to wait until 'use' (i = 0) has raised 'free'; it waits for 'free' >= 0
//
// credits: loads are free for the first two; wait later
tally.kernel @hand {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [2, 64] type "f32" space "s"
  tally.loop "i" trips "n" max 1000 {
    tally.instr "load" on "dma" writes ["X[i mod 2, 0:64]"]
    tally.instr "use" on "act" reads ["X[i mod 2, 0:64]"]
  }
}
tally.code @hand {
  tally.semaphore "full"
  tally.semaphore "free"
  tally.program "dma" {
    tally.register "c"
    tally.for "i" {
      tally.set "c" = "c" + 1
      tally.issue "load" waits "free" >= "c" signals "full"
    }
  }
  tally.program "act" {
    tally.register "c"
    tally.signal "free" by 3
    tally.for "i" {
      tally.set "c" = "c" + 1
      tally.issue "use" waits "full" >= "c" signals "free"
    }
  }
}
