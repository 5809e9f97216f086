// RUN: tally check %s --race | FileCheck %s
// RUN: sed 's/"free" by 1/"free" by 2/' %s > %t && not tally check %t --race | FileCheck %s --check-prefix=WRONG

// Two queues of one engine load the operands and raise one semaphore. With one slot each, both loads of
// an iteration are all that can have come.

// CHECK: verdict: yes

// With a second slot and credit, one queue can be two loads ahead of the other.

// WRONG: error: race: nothing makes 'mul' (A = {{[0-9]+}})
// WRONG: note: mend: let 'dma' raise 'free' by 1, not 2, before 'left'; the check then no longer reports this, nor the race of 'right' and 'mul'
// WRONG-NOT: error:
// WRONG: verdict: no

tally.kernel @operands {
  tally.engine "dma" queues ["other"]
  tally.engine "pe"
  tally.buffer "X" shape [4]
  tally.buffer "Y" shape [4]
  tally.loop "A" trips "n" max 1000 {
    tally.instr "left" on "dma" writes ["X[A mod 4]"]
    tally.instr "right" on "other" writes ["Y[A mod 4]"]
    tally.instr "mul" on "pe" reads ["X[A mod 4]", "Y[A mod 4]"]
  }
}
tally.code @operands {
  tally.semaphore "full"
  tally.semaphore "free"
  tally.program "dma" {
    tally.register "r"
    tally.set "r" = 0
    tally.signal "free" by 1
    tally.for "A" {
      tally.set "r" = "r" + 1
      tally.wait "free" >= "r"
      tally.issue "left" signals "full"
      tally.issue "right" signals "full"
    }
  }
  tally.program "pe" {
    tally.register "r"
    tally.set "r" = 0
    tally.for "A" {
      tally.set "r" = "r" + 2
      tally.issue "mul" waits "full" >= "r" signals "free"
    }
  }
}
