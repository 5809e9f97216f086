// RUN: tally-opt %s | FileCheck %s
// RUN: tally-opt %s -o %t.mlir
// RUN: tally-opt %t.mlir | diff %t.mlir -
// RUN: tally-opt %s --mlir-print-op-generic | tally-opt | diff %t.mlir -
// RUN: tally-opt %s --emit-bytecode | tally-opt | diff %t.mlir -
// Through the core and back nothing changes either.
// RUN: tally-opt %s --tally-normalize | diff %t.mlir -

tally.kernel @k {
  tally.engine "act"
  tally.engine "dma" weight 16
  tally.loop "A" trips "n" {
    tally.instr "load" on "dma"
    tally.instr "scale" on "act"
    tally.if "c" {
      tally.instr "p" on "act"
    } else {
      tally.instr "q" on "act"
    }
    tally.if "d" {
    }
  }
  tally.dep "load" -> "scale"
  tally.dep "scale" -> "load" at "A" = 2
}

// CHECK-LABEL: tally.code @k strategy "manual" machine "generic" {
tally.code @k strategy "manual" machine "generic" {
  // CHECK-NEXT: tally.semaphore "A.dma"
  tally.semaphore "A.dma"
  tally.semaphore "A.act"
  tally.semaphore "x"
  // CHECK: tally.program "act" {
  tally.program "act" {
    // CHECK-NEXT: tally.register "r0" role "total(A)"
    tally.register "r0" role "total(A)"
    // CHECK-NEXT: tally.register "t"{{$}}
    tally.register "t"
    tally.register "i"
    // CHECK-NEXT: tally.register "i"
    // CHECK-NEXT: tally.set "r0" = 0
    tally.set "r0" = 0
    // CHECK-NEXT: tally.for "A" counter "i" {
    tally.for "A" counter "i" {
      // CHECK-NEXT: tally.set "r0" = "r0" + 1
      tally.set "r0" = "r0" + 1
      // CHECK-NEXT: tally.set "t" = "r0" - 2
      tally.set "t" = "r0" - 2
      // CHECK-NEXT: tally.set "t" = 16 * "t"
      tally.set "t" = 16 * "t"
      // CHECK-NEXT: tally.set "t" = "t" min "i"
      tally.set "t" = "t" min "i"
      // CHECK-NEXT: tally.set "t" = 4294967295 gt "t"
      tally.set "t" = 4294967295 gt "t"
      // CHECK-NEXT: tally.set "t" = "i"
      tally.set "t" = "i"
      // CHECK-NEXT: tally.wait "A.dma" >= "t" for [0, 1]
      tally.wait "A.dma" >= "t" for [0, 1]
      // CHECK-NEXT: tally.wait "x" >= 5{{$}}
      tally.wait "x" >= 5
      // CHECK-NEXT: tally.issue "scale" waits "A.dma" >= 5 for [0] signals "A.act"{{$}}
      tally.issue "scale" waits "A.dma" >= 5 for [0] signals "A.act" by 1
      // CHECK-NEXT: tally.branch "c" {
      tally.branch "c" {
        tally.issue "p"
      // CHECK: } else {
      } else {
        tally.issue "q" signals "x" by 4
      }
      // CHECK: tally.branch "d" {
      // CHECK-NEXT: }
      tally.branch "d" {
      }
      // CHECK-NEXT: tally.signal "x" by 2
      tally.signal "x" by 2
      // CHECK-NEXT: tally.signal "x"{{$}}
      tally.signal "x"
      // CHECK-NEXT: tally.reset "A.dma" count 3
      tally.reset "A.dma" count 3
      // CHECK-NEXT: tally.drain
      tally.drain
      // CHECK-NEXT: tally.barrier ["act", "dma"] {
      tally.barrier ["act", "dma"] {
        tally.reset "x"
      }
    }
  }
  // CHECK: tally.program "dma" {
  tally.program "dma" {
    tally.for "A" {
      tally.issue "load" signals "A.dma" by 16
      tally.barrier ["act", "dma"] {
        tally.drain
      }
    }
  }
}
