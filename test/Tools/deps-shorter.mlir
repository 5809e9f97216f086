// RUN: tally deps %s --machine=generic --explain | FileCheck %s

// What waits for a shorter distance waits for a run after all of the iteration that a longer one asks for.
// CHECK: 2 dependences from 3 accesses, 3 more implied
// CHECK: 'w3' -> 'w0' at 'A' = 1, 'B' = 1 
// CHECK-NEXT: by 'w1' -> 'w0' at 'B' = 1, 'w3' retires before 'w1'
tally.kernel @k {
  tally.engine "p"
  tally.buffer "X" shape [400]
  tally.loop "A" trips 5 {
    tally.loop "B" trips 2 {
      tally.instr "w0" on "p" writes ["X[2*A + B]"]
      tally.instr "w1" on "p" writes ["X[2*A + B + 1]"]
      tally.instr "w3" on "p" writes ["X[2*A + B + 3]"]
    }
  }
}
