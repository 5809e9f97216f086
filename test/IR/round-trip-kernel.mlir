// RUN: tally-opt %s | FileCheck %s
// What is printed parses to the same, in every form that MLIR has.
// RUN: tally-opt %s -o %t.mlir
// RUN: tally-opt %t.mlir | diff %t.mlir -
// RUN: tally-opt %s --mlir-print-op-generic | tally-opt | diff %t.mlir -
// RUN: tally-opt %s --mlir-print-debuginfo | tally-opt | diff %t.mlir -
// RUN: tally-opt %s --emit-bytecode | tally-opt | diff %t.mlir -

// CHECK-LABEL: tally.kernel @everything {
tally.kernel @everything {
  // CHECK-NEXT: tally.engine "act"{{$}}
  tally.engine "act"
  // Weight 1 and whole completion are the default, and left out.
  // CHECK-NEXT: tally.engine "pe"{{$}}
  tally.engine "pe" weight 1 whole
  // CHECK-NEXT: tally.engine "dma" weight 16{{$}}
  tally.engine "dma" weight 16 whole
  // CHECK-NEXT: tally.engine "sp" split queues ["qload" weight 16 split, "qstore"]{{$}}
  tally.engine "sp" split queues ["qload" weight 16 split, "qstore" whole]
  // CHECK-NEXT: tally.value "k" max 64{{$}}
  tally.value "k" min 0 max 64
  // CHECK-NEXT: tally.value "free"{{$}}
  tally.value "free"
  // CHECK-NEXT: tally.buffer "X" shape [2, 128] type "bf16" space "sbuf" at 4096{{$}}
  tally.buffer "X" shape [2, 128] type "bf16" space "sbuf" at 4096
  // CHECK-NEXT: tally.buffer "scalar"{{$}}
  tally.buffer "scalar"
  // CHECK-NEXT: tally.buffer "Y" at 0 alias ["X", "scalar"]{{$}}
  tally.buffer "Y" at 0 alias ["X", "scalar"]
  // CHECK-NEXT: tally.buffer "Z" alias ["X"] noalias ["Y"]{{$}}
  tally.buffer "Z" alias ["X"] noalias ["Y"]
  // CHECK-NEXT: tally.buffer "P" shape [128, 4] at 0 partitions{{$}}
  tally.buffer "P" shape [128, 4] at 0 partitions first 0
  // CHECK-NEXT: tally.buffer "L" shape [2, 64] at 64 partitions first 32 dim 1 noalias ["P"]{{$}}
  tally.buffer "L" shape [2, 64] at 64 partitions dim 1 first 32 noalias ["P"]
  // A minimum of 1 is the default.
  // CHECK-NEXT: tally.buffer "R" shape [3, 8] ring max 6{{$}}
  tally.buffer "R" shape [3, 8] ring max 6 min 1
  // CHECK-NEXT: tally.buffer "Q" shape [3, 8] ring min 2 max 6{{$}}
  tally.buffer "Q" shape [3, 8] ring min 2 max 6
  // CHECK-NEXT: tally.loop "A" trips 64 {
  tally.loop "A" trips 64 {
    // CHECK-NEXT: tally.instr "load" on "dma" op "dma_copy" writes ["X[A mod 2, 0:128]"]{{$}}
    tally.instr "load" on "dma" op "dma_copy" writes ["X[A mod 2, 0:128]"]
    // CHECK-NEXT: tally.instr "scale" on "act" computes "r0 * r1; r1" reads ["X[A mod 2, 0:128]", "scalar"] writes ["X"] accumulates ["scalar"]{{$}}
    tally.instr "scale" on "act" computes "r0 * r1; r1" reads ["X[A mod 2, 0:128]", "scalar"] writes ["X"] accumulates ["scalar"]
    // CHECK-NEXT: tally.instr "open" on "act" or ["pe", "dma"] writes ["R[A mod 3, 0:8]", "Q[A mod 3, 0:8]"]{{$}}
    tally.instr "open" on "act" or ["pe", "dma"] writes ["R[A mod 3, 0:8]", "Q[A mod 3, 0:8]"]
    // CHECK-NEXT: tally.instr "fill" on "act" reads ["R[A mod 3, 0:8]", "Q[(A - 1) mod 3, 0:8]"]{{$}}
    tally.instr "fill" on "act" reads ["R[A mod 3, 0:8]", "Q[(A - 1) mod 3, 0:8]"]
    // CHECK-NEXT: tally.instr "count" on "act" reads ["scalar"] loads ["d"]{{$}}
    tally.instr "count" on "act" loads ["d"] reads ["scalar"]
    // CHECK-NEXT: tally.instr "last" on "act" reads ["X[1, 0:128] if A == trips(A) - 1 and $n != 0"]{{$}}
    tally.instr "last" on "act" reads ["X[1, 0:128] if A == trips(A) - 1 and $n != 0"]
    // CHECK-NEXT: tally.if "c" divergent {
    // CHECK-NEXT:   tally.instr "p" on "pe"
    // CHECK-NEXT: } else {
    // CHECK-NEXT:   tally.instr "q" on "pe"
    // CHECK-NEXT: }
    tally.if "c" divergent {
      tally.instr "p" on "pe"
    } else {
      tally.instr "q" on "pe"
    }
    // CHECK-NEXT: tally.if "e" when "A > 0 and A < $last - 1" {
    // CHECK-NEXT: }
    tally.if "e" when "A > 0 and A < $last - 1" {
    }
    // CHECK-NEXT: tally.if "d" sync "per-engine" {
    // CHECK-NEXT: }
    tally.if "d" sync "per-engine" {
    }
    // CHECK-NEXT: tally.loop "U" trips 6 unroll full sync "barrier" {
    // CHECK-NEXT: }
    tally.loop "U" trips 6 unroll full sync "barrier" {
    }
    // CHECK-NEXT: tally.loop "V" trips "v" divergent unroll 4 {
    // CHECK-NEXT: }
    // CHECK-NEXT: }
    tally.loop "V" trips "v" divergent unroll 4 {
    }
  }
  // CHECK-NEXT: tally.loop "B" trips "n" min 1 max 4096 divergent {
  tally.loop "B" trips "n" min 1 max 4096 divergent {
    // CHECK-NEXT: tally.instr "store" on "qstore"
    tally.instr "store" on "qstore"
  }
  // CHECK: tally.loop "W" while "more" {
  tally.loop "W" while "more" {
    // CHECK-NEXT: tally.loop "S" trips "n" {
    tally.loop "S" trips "n" {
      tally.instr "s" on "sp"
    }
    tally.loop "T" trips "n" {
      tally.instr "t" on "act"
    }
  }
  // CHECK: tally.dep "load" -> "scale" raw{{$}}
  tally.dep "load" -> "scale" raw
  // CHECK-NEXT: tally.dep "scale" -> "load" war at "A" = 2{{$}}
  tally.dep "scale" -> "load" war at "A" = 2
  // CHECK-NEXT: tally.dep "s" -> "s" waw at "W" = 1, "S" = -1{{$}}
  tally.dep "s" -> "s" waw at "W" = 1, "S" = -1
  // CHECK-NEXT: tally.dep "load" -> "scale" flat 3{{$}}
  tally.dep "load" -> "scale" flat 3
  // CHECK-NEXT: tally.dep "s" -> "t" element 0 at "W" = 1{{$}}
  tally.dep "s" -> "t" element 0 at "W" = 1
  // CHECK-NEXT: tally.dep "p" -> "load" at "A" = 1 allow_divergent{{$}}
  tally.dep "p" -> "load" at "A" = 1 allow_divergent
}

// Attributes that others attach are kept, and names may hold anything.
// CHECK-LABEL: tally.kernel @"strange name" attributes {target = "x"} {
tally.kernel @"strange name" attributes {target = "x"} {
  // CHECK-NEXT: tally.engine "a \22quoted\22 \\ engine" attributes {speed = 3 : i64}
  tally.engine "a \"quoted\" \\ engine" attributes {speed = 3}
}

// CHECK-LABEL: tally.kernel @pinned reserves [0, 3] {
tally.kernel @pinned reserves [0, 3] {
  // CHECK-NEXT: tally.engine "act" queues ["q"] reserves [1]{{$}}
  tally.engine "act" queues ["q"] reserves [1]
  // CHECK-NEXT: tally.engine "pe"{{$}}
  tally.engine "pe" reserves []
  // CHECK-NEXT: tally.instr "a" on "act" semaphore 7{{$}}
  tally.instr "a" on "act" semaphore 7
  // CHECK-NEXT: tally.instr "b" on "pe" writes ["X"] semaphore 2{{$}}
  tally.instr "b" on "pe" writes ["X"] semaphore 2
  tally.buffer "X"
  // CHECK: tally.dep "a" -> "b" allow_divergent semaphore 7{{$}}
  tally.dep "a" -> "b" allow_divergent semaphore 7
}
