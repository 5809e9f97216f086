// Dependences: found, written but not enough, and none.
// RUN: %python %S/Inputs/lsp.py %s 'change:// written=>tally.dep "load" -> "scale" raw//' 'change:writes ["X[A mod 2]"]=>' 'change:reads ["X[A mod 2]"]=>' 'change:tally.dep "load" -> "scale" raw=>' | FileCheck %s
tally.kernel @k {
  tally.engine "act"
  tally.engine "dma"
  tally.buffer "X" shape [2]
  tally.loop "A" trips "n" max 8 {
    tally.instr "load" on "dma" writes ["X[A mod 2]"]
    tally.instr "scale" on "act" reads ["X[A mod 2]"]
  }
  // written
}
// Found:
// CHECK-LABEL: diagnostics of version 1
// CHECK-NEXT: 8:18 [load] tally hint: 'load' waits for 'scale' at 'A' = 2 war: found from the accesses
// CHECK-NEXT: 9:18 [scale] note: 'scale' is here
// CHECK-NEXT: 9:18 [scale] tally hint: 'scale' waits for 'load' raw: found from the accesses
// CHECK-NEXT: 8:18 [load] note: 'load' is here
// Not all are written:
// CHECK-LABEL: diagnostics of version 2
// CHECK-NEXT: 8:5 {{.*}} tally information: written dependences are not seen to imply 2 dependences that accesses ask for
// CHECK-NEXT: 8:18 [load] note: 'load' -> 'load' at 'A' = 2
// CHECK-NEXT: note: 'scale' -> 'load' at 'A' = 2
// Accesses that are not stated:
// CHECK-LABEL: diagnostics of version 3
// CHECK-NEXT: 8:18 [load] tally information: 'load' states no accesses
// Nothing to say, then nothing written:
// CHECK-LABEL: diagnostics of version 4
// CHECK-NEXT: diagnostics of version 5
// CHECK-NEXT: 3:15 [k] tally warning: kernel 'k' says neither what its instructions touch nor what depends on what
