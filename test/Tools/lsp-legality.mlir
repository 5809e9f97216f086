// An editor underlines what is wrong: the name or tile that a message is about, or the operation.
// RUN: %python %S/Inputs/lsp.py %s 'change:"pool"=>"act"' 'change:"Y[0]"=>"X[0]"' 'change:"n" = -1=>"A" = -1' 'change:trips "n"=>trips' | FileCheck %s
tally.kernel @k {
  tally.engine "act"
  tally.buffer "X" shape [4]
  tally.loop "A" trips "n" max 4 {
    tally.instr "x" on "pool" reads ["X[A]"]
    tally.instr "w" on "act" writes ["Y[0]"]
  }
  tally.dep "x" -> "w" at "n" = -1
}
// All mistakes at once.
// CHECK-LABEL: diagnostics of version 1
// CHECK: 7:25 [pool] tally error: unknown queue 'pool'; the queues of this kernel are 'act'
// CHECK: 8:39 [Y] tally error: unknown buffer 'Y'
// CHECK: 10:28 [n] tally error: unknown loop 'n'
// CHECK-LABEL: diagnostics of version 2
// CHECK-NOT: pool
// CHECK: 8:39 [Y] tally error: unknown buffer 'Y'
// CHECK-LABEL: diagnostics of version 3
// CHECK-NOT: unknown buffer
// CHECK: 10:28 [n] tally error: unknown loop 'n'
// What is not legal.
// CHECK-LABEL: diagnostics of version 4
// CHECK: 10:21 [w] tally error: 'w' waits for 'x' at distance -1 on 'A'
// A syntax error ends reading.
// CHECK-LABEL: diagnostics of version 5
// CHECK-NEXT: 6:24 [max] tally error: custom op 'tally.loop' expected a number
// CHECK-NOT: tally
