// RUN: not tally check %s --race --all | FileCheck %s

// The ring has two slots, but the dependence is of distance 3, and the code keeps that one only. A
// tile touches two parts that other tiles tell apart; the pair counts once.

// CHECK: error: race: nothing makes 'load' (A = 2), which writes X[0, 0:32], X[0, 32:32], wait for 'use' (A = 0), which reads them
// CHECK: note: the dependence it would need: tally.dep "use" -> "load" war at "A" = 2; 'use' -> 'load' at 'A' = 3 asks for less
// CHECK: note: 3 times in this schedule
// CHECK: note: has the cause of the race of 'half' and 'load'

tally.kernel @weaker {
  tally.engine "act"
  tally.engine "dma"
  tally.buffer "X" shape [2, 64]
  tally.loop "A" trips 5 {
    tally.instr "load" on "dma" writes ["X[A mod 2, 0:64]"]
    tally.instr "use" on "act" reads ["X[A mod 2, 0:64]"]
    tally.instr "half" on "act" reads ["X[A mod 2, 0:32]"]
  }
  tally.dep "load" -> "use" raw
  tally.dep "use" -> "load" war at "A" = 3
}

tally.code @weaker {
  tally.semaphore "full"
  tally.semaphore "free"
  tally.program "act" {
    tally.register "r"
    tally.set "r" = 0
    tally.for "A" {
      tally.set "r" = "r" + 1
      tally.issue "use" waits "full" >= "r" signals "free"
      tally.issue "half"
    }
  }
  tally.program "dma" {
    tally.register "r"
    tally.register "w"
    tally.set "r" = 0
    tally.for "A" {
      tally.set "r" = "r" + 1
      tally.set "w" = "r" - 3
      tally.issue "load" waits "free" >= "w" signals "full"
    }
  }
}
