// RUN: not tally check %s --race | FileCheck %s

// "use" waits on the semaphore that it raises itself two iterations earlier.

// CHECK: with --trips=A=1:
// CHECK: error: race: nothing makes 'use' (A = 0), which reads X[0], wait for 'load' (A = 0), which writes it
// CHECK: note: 'use' has to wait for 'full' >= 1; it waits for 'free' >= 0
// CHECK: verdict: no

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
    tally.register "t"
    tally.set "r" = 0
    tally.for "A" {
      tally.set "r" = "r" + 1
      tally.set "t" = "r" - 2
      tally.issue "use" waits "free" >= "t" signals "free"
    }
  }
  tally.program "dma" {
    tally.register "r"
    tally.register "t"
    tally.set "r" = 0
    tally.for "A" {
      tally.set "r" = "r" + 1
      tally.set "t" = "r" - 2
      tally.issue "load" waits "free" >= "t" signals "full"
    }
  }
}
