// RUN: tally-opt %s --tally-sync=strategy=per-loop --mlir-print-debuginfo | FileCheck %s --check-prefixes=CHECK,CODE
// RUN: tally-opt %s --tally-sync=strategy=per-loop --tally-to-scf --mlir-print-debuginfo | FileCheck %s --check-prefixes=CHECK,SCF

// Every operation of code knows where in the kernel it comes from: an instruction from itself, a
// wait alone from the consumer that it serves and the dependence behind it, a computation from the
// loop around it. In scf form it is the same.

tally.kernel @k {
  tally.engine "act"
  tally.engine "dma"
  tally.engine "pe"
  tally.loop "A" trips "n" {
    tally.instr "load" on "dma"
    tally.instr "mul" on "pe"
    tally.instr "scale" on "act"
    tally.instr "store" on "act"
  }
  tally.dep "load" -> "scale"
  tally.dep "mul" -> "scale"
  tally.dep "load" -> "store" at "A" = 1
}

// CHECK:      tally.engine "act" loc(#[[ENGINE:.*]])
// CHECK:        tally.instr "scale" on "act" loc(#[[SCALE:.*]])
// CHECK-NEXT:   tally.instr "store" on "act" loc(#[[STORE:.*]])
// CHECK-NEXT: } loc(#[[LOOP:.*]])
// CHECK:      tally.dep "load" -> "scale" loc(#[[LOAD_SCALE:.*]])

// CODE:       tally.program "act" {
// CODE:         tally.for "A" {
// CODE-NEXT:      tally.set {{.*}} loc(#[[LOOP]])
// CODE:           tally.wait "A.dma" >= {{.*}} for [0] loc(#[[WAIT:.*]])
// CODE-NEXT:      tally.issue "scale" waits "A.pe" >= {{.*}} for [1] loc(#[[SCALE]])
// CODE:           tally.issue "store"{{.*}} loc(#[[STORE]])
// CODE-NEXT:    } loc(#[[LOOP]])
// CODE-NEXT:  } loc(#[[ENGINE]])

// SCF:       func.func @k_act() attributes
// SCF:         scf.for
// SCF:           arith.addi {{.*}} loc(#[[LOOP]])
// SCF:           tally.await "A.dma" >= {{.*}} for [0] : i32 loc(#[[WAIT:.*]])
// SCF-NEXT:      tally.run "scale" waits "A.pe" >= {{.*}} for [1] loc(#[[SCALE]])
// SCF:           tally.run "store"{{.*}} loc(#[[STORE]])
// What follows an instruction is not part of it.
// SCF-NEXT:      scf.yield {{.*}} loc(#[[LOOP]])
// SCF-NEXT:    } loc(#[[LOOP]])
// SCF-NEXT:    return loc(#[[ENGINE]])
// SCF-NEXT:  } loc(#[[ENGINE]])

// CHECK: #[[SCALE]] = loc({{.*}}locations.mlir":15:5)
// CHECK: #[[WAIT]] = loc(fused[#[[SCALE]], #[[LOAD_SCALE]]])
