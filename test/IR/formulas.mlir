// RUN: tally-opt %s | FileCheck %s
// RUN: tally-opt %s | tally-opt | FileCheck %s
// RUN: tally-opt %s --emit-bytecode | tally-opt | FileCheck %s
// RUN: tally-opt %s --mlir-print-op-generic | tally-opt | FileCheck %s

// What trips follow from is kept as it is written.

// CHECK-LABEL: tally.kernel @formulas {
tally.kernel @formulas {
  tally.engine "e"
  // CHECK: tally.loop "i" trips = "$n" min 1 max 8 unroll 2 {
  tally.loop "i" unroll 2 trips="$n" max 8 min 1 {
    // CHECK-NEXT: tally.loop "j" trips = "i + 1" {
    tally.loop "j" trips = "i + 1" {
      // CHECK-NEXT: tally.loop "k" trips = "$n - 2*i" {
      tally.loop "k" trips = "$n - 2*i" {
        tally.instr "x" on "e"
      }
    }
  }
}
