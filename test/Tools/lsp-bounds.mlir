// Tiles that leave their buffers, for certain and perhaps.
// RUN: %python %S/Inputs/lsp.py %s 'change:"Y[A + 1]"=>"Y[A]"' | FileCheck %s
tally.kernel @k {
  tally.engine "act"
  tally.buffer "X" shape [4]
  tally.buffer "Y" shape [8]
  tally.loop "A" trips "n" max 8 {
    tally.instr "y" on "act" writes ["Y[A + 1]"]
  }
  tally.loop "B" trips "m" {
    tally.instr "x" on "act" reads ["X[B]"]
  }
}
// CHECK-LABEL: diagnostics of version 1
// CHECK-NEXT: 8:39 [Y[A + 1]] tally error: 'y' writes 'Y[A + 1]' beyond the end of buffer 'Y'
// CHECK-NEXT: 6:17 [Y] note: 'Y' is here
// CHECK-LABEL: diagnostics of version 2
// CHECK-NEXT: 11:38 [X[B]] tally information: whether 'X[B]' of 'x' stays within buffer 'X' depends on how often 'B' runs
// CHECK-NOT: tally error
