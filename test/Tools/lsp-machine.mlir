// What the machine lacks is said where code would need it.
// RUN: %python %S/Inputs/lsp.py %s | FileCheck %s
tally.kernel @k reserves [255] {
  tally.engine "scalar" reserves [65]
  tally.engine "vector"
  tally.loop "A" trips "n" {
    tally.instr "a" on "scalar" semaphore 300
    tally.instr "b" on "vector"
  }
  tally.dep "a" -> "b"
}
// CHECK: 7:18 [a] tally error: 'a' is pinned to semaphore 300, but those of machine 'trn2' have numbers from 0 to 255
