// RUN: tally-opt %s --tally-normalize | FileCheck %s
// A second time changes nothing.
// RUN: tally-opt %s --tally-normalize -o %t.mlir
// RUN: tally-opt %t.mlir --tally-normalize | diff %t.mlir -

// CHECK-LABEL: tally.kernel @k {
tally.kernel @k {
  // Dependences go last, zero distances go away.
  // CHECK-NEXT: tally.engine "act"
  // CHECK-NEXT: tally.buffer "X"
  tally.instr "a" on "act" writes ["X[ 0 , 3]"]
  // CHECK-NEXT: tally.instr "a" on "act" writes ["X[0, 3]"]
  tally.dep "a" -> "b" at "A" = 0
  // CHECK-NEXT: tally.loop "A" trips 2 {
  tally.loop "A" trips 2 {
    // CHECK-NEXT: tally.instr "b" on "act"
    tally.instr "b" on "act"
    // An empty else says nothing.
    // CHECK-NEXT: tally.if "c" {
    // CHECK-NEXT: }
    // CHECK-NEXT: }
    tally.if "c" {
    } else {
    }
  }
  // CHECK-NEXT: tally.dep "a" -> "b"{{$}}
  tally.engine "act"
  tally.buffer "X" shape [4, 4]
}
