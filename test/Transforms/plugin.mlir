// A stock mlir-opt, with our plugin, does what tally-opt does.
// RUN: %mlir_opt %s --load-dialect-plugin=%plugin --load-pass-plugin=%plugin --pass-pipeline='builtin.module(tally-sync{strategy=per-loop machine=generic},tally-to-scf,cse)' -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: tally-opt %s --pass-pipeline='builtin.module(tally-sync{strategy=per-loop machine=generic},tally-to-scf,cse)' | diff %t.mlir -

// CHECK: tally.kernel @k
// CHECK: func.func @k_act
// CHECK: tally.run "scale" waits "A.dma" >= %{{.*}} for [0] signals "A.act"
tally.kernel @k {
  tally.engine "act"
  tally.engine "dma" weight 16
  tally.loop "A" trips "n" {
    tally.instr "load" on "dma"
    tally.instr "scale" on "act"
  }
  tally.dep "load" -> "scale"
  tally.dep "scale" -> "load" at "A" = 2
}
