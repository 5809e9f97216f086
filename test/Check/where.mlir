// What an engine does after its last instruction has the place of the loop around it, not that of the engine's declaration. Here,
// the reset there may take down a flag that was raised for the next iteration.
//
// RUN: not tally check %s 2>&1 | FileCheck %s
//
// Code for another machine is named where it begins.
// RUN: not tally check %s --machine=trn1 2>&1 | FileCheck %s --check-prefix=MACHINE
// MACHINE: where.mlir:[[# @LINE + 21]]:1: warning: the code in '{{.*}}' was made for machine 'generic'

tally.kernel @split {
  tally.engine "dma" weight 4 split
  tally.engine "pe"
  tally.buffer "in" shape [8, 8, 16]
  tally.buffer "X" shape [2, 16]
  tally.buffer "S"
  // CHECK: where.mlir:[[# @LINE + 6]]:3: error: deadlock: everything has run, but engine 'dma' never reaches its end
  // CHECK: where.mlir:[[# @LINE + 5]]:3: error: deadlock: the wait at the end on 'dma' waits for 'go' >= 1
  // CHECK: where.mlir:[[# @LINE + 4]]:3: note: nothing raises 'go' any more
  // CHECK: where.mlir:[[# @LINE + 3]]:3: warning: nothing orders the reset at the end on 'dma', which sets 'go' to 0, and the signal at the end on 'pe'
  // CHECK: where.mlir:[[# @LINE + 2]]:3: note: the other one is here
  //
  tally.loop "o" trips "m" max 8 {
    tally.loop "i" trips "n" max 8 {
      tally.instr "load" on "dma" reads ["in[o, i, 0:16]"] writes ["X[i mod 2, 0:16]"]
      tally.instr "use" on "pe" reads ["X[i mod 2, 0:16]", "S"] writes ["S"]
    }
  }
}
tally.code @split strategy "manual" machine "generic" {
  tally.semaphore "full"
  tally.semaphore "free"
  tally.semaphore "go"
  tally.program "dma" {
    tally.register "t"
    tally.register "k"
    tally.for "o" {
      tally.set "t" = 0
      tally.for "i" counter "k" {
        tally.set "t" = "k" - 1
        tally.issue "load" waits "free" >= "t" signals "full" by 4
      }
      tally.wait "go" >= 1
      tally.reset "go"
    }
  }
  tally.program "pe" {
    tally.register "t"
    tally.for "o" {
      tally.set "t" = 0
      tally.for "i" {
        tally.set "t" = "t" + 4
        tally.issue "use" waits "full" >= "t" signals "free"
        tally.drain
      }
      tally.drain
      tally.reset "full" count 2
      tally.signal "go"
    }
  }
}
