// A wait for the same value in each iteration stands before the loop, if that holds nothing back.

// RUN: tally compile %s --machine=trn2 --quiet -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir

// It is exact, whatever the trips: explored, and in all orders; the code is read again as it is.

// RUN: tally check %s --machine=trn2 --explore --max-trips=3 --quiet | FileCheck %s --check-prefix=EXACT
// RUN: tally check %t.mlir --machine=trn2 --explore --race --max-trips=3 --quiet | FileCheck %s --check-prefix=EXACT
// RUN: tally compile %t.mlir --sync=manual | sed 's/"manual"/"auto"/' | diff - %t.mlir
// EXACT-COUNT-8: verdict: yes
// EXACT-NOT: verdict

// What it gains, and where the wait is.

// RUN: tally plan %s --kernel=first --machine=trn2 --why --quiet | FileCheck %s --check-prefix=WHY
// WHY: * {{.*}} us -4.{{.*}} waits before 'i' on 'vector'
// RUN: tally explain %s --kernel=first --instr=a --machine=trn2 --quiet | FileCheck %s --check-prefix=EXPLAIN
// EXPLAIN: in code a wait before 'i', for all of its iterations, on 'lw'
// EXPLAIN: in code wait 1 of the instruction, on 'lv'

// A certificate knows waits only at their instruction.

// RUN: tally compile %s --kernel=first --machine=trn2 --certify -o %t.certified.mlir 2>&1 | FileCheck %s --check-prefix=CERTIFIED
// CERTIFIED: so none stands before a loop; simulated, it takes {{.*}} (+4.
// RUN: FileCheck %s --input-file=%t.certified.mlir --check-prefix=INSIDE
// INSIDE: tally.for "i" {
// INSIDE-NEXT: tally.wait "lw" >= 1

// By control where there are no times; of a counter that is reset, it stays in the loop.

// RUN: tally compile %s --kernel=first --quiet | FileCheck %s --check-prefix=CONTROL
// CONTROL: tally.wait "lw" >= 1
// CONTROL-NEXT: tally.for "i" {
// RUN: tally compile %s --kernel=resets --machine=%S/Inputs/byte-machine.json --quiet | FileCheck %s --check-prefix=RESETS
// RESETS: tally.program "vector"
// RESETS: tally.for "i" {
// RESETS-NEXT: tally.wait "lw" >= 

// CHECK-LABEL: tally.code @first
// CHECK:      tally.wait "lw" >= 1 for [0]
// CHECK-NEXT: tally.for "i" {
// CHECK-NEXT:   tally.issue "a" waits "lv" >= 1 for [1]
tally.kernel @first {
  tally.engine "sync"
  tally.engine "scalar"
  tally.engine "vector"
  tally.buffer "x" shape [64, 128, 8] type "f32" space "sbuf"
  tally.buffer "w" shape [128, 512] type "f32" space "sbuf"
  tally.buffer "v" shape [128, 512] type "f32" space "sbuf"
  tally.buffer "y" shape [64, 128, 8] type "f32" space "sbuf"
  tally.instr "lw" on "sync" op "dma_copy(bytes=262144)" computes "0" writes ["w"]
  tally.instr "lv" on "scalar" op "dma_copy(bytes=262144)" computes "0" writes ["v"]
  tally.loop "i" trips "n" min 1 max 64 {
    tally.instr "a" on "vector" op "tensor_tensor(n=8)" computes "sum(r0 + r1)" reads ["w", "v"] writes ["y[i, 0:128, 0]"]
  }
}

// What comes from the loop itself stays with the instruction.

// CHECK-LABEL: tally.code @varies
// CHECK:      tally.wait "lw" >= 1 for [1]
// CHECK-NEXT: tally.for "i" counter "r0" {
// CHECK-NEXT:   tally.issue "a" waits "lx" >= "r0" for [2]
tally.kernel @varies {
  tally.engine "sync"
  tally.engine "scalar"
  tally.engine "vector"
  tally.buffer "w" shape [128, 8] type "f32" space "sbuf"
  tally.buffer "x" shape [8, 128, 8] type "f32" space "sbuf"
  tally.buffer "y" shape [64, 128, 8] type "f32" space "sbuf"
  tally.instr "lw" on "sync" op "dma_copy(bytes=4096)" computes "0" writes ["w"]
  tally.loop "i" trips "n" min 1 max 64 {
    tally.instr "lx" on "scalar" op "memset(n=1)" computes "0" writes ["x[i mod 8, 0:128, 0:8]"]
    tally.instr "a" on "vector" op "tensor_tensor(n=64)" computes "r0 + r1" reads ["w", "x[i mod 8, 0:128, 0:8]"] writes ["y[i, 0:128, 0:8]"]
  }
}

// An inner loop that is always entered: before both.

// CHECK-LABEL: tally.code @nested
// CHECK:      tally.wait "lw" >= 1 for [1]
// CHECK-NEXT: tally.for "i" counter "r0" {
// CHECK-NEXT:   tally.for "k" {
// CHECK-NEXT:     tally.issue "a" waits "lx" >= "r0" for [2]
tally.kernel @nested {
  tally.engine "sync"
  tally.engine "scalar"
  tally.engine "vector"
  tally.buffer "w" shape [128, 8] type "f32" space "sbuf"
  tally.buffer "x" shape [2, 128, 8] type "f32" space "sbuf"
  tally.buffer "y" shape [64, 8, 128, 8] type "f32" space "sbuf"
  tally.instr "lw" on "sync" op "dma_copy(bytes=4096)" computes "0" writes ["w"]
  tally.loop "i" trips "n" min 1 max 64 {
    tally.instr "lx" on "scalar" op "dma_copy(bytes=4096)" computes "0" writes ["x[i mod 2, 0:128, 0:8]"]
    tally.loop "k" trips 8 {
      tally.instr "a" on "vector" op "tensor_tensor(n=8)" computes "r0 + r1" reads ["w", "x[i mod 2, 0:128, 0:8]"] writes ["y[i, k, 0:128, 0:8]"]
    }
  }
}

// Something else comes first: that would be held back.

// CHECK-LABEL: tally.code @second
// CHECK:      tally.issue "b"
// CHECK-NEXT: tally.wait "lw" >= 1
tally.kernel @second {
  tally.engine "sync"
  tally.engine "scalar"
  tally.engine "vector"
  tally.buffer "w" shape [128, 512] type "f32" space "sbuf"
  tally.buffer "v" shape [128, 512] type "f32" space "sbuf"
  tally.buffer "y" shape [64, 128, 8] type "f32" space "sbuf"
  tally.buffer "z" shape [64, 128, 8] type "f32" space "sbuf"
  tally.instr "lw" on "sync" op "dma_copy(bytes=262144)" computes "0" writes ["w"]
  tally.instr "lv" on "scalar" op "dma_copy(bytes=262144)" computes "0" writes ["v"]
  tally.loop "i" trips "n" min 1 max 64 {
    tally.instr "b" on "vector" op "memset(n=8)" computes "0" writes ["z[i, 0:128, 0:8]"]
    tally.instr "a" on "vector" op "tensor_tensor(n=8)" computes "sum(r0 + r1)" reads ["w", "v"] writes ["y[i, 0:128, 0]"]
  }
}

// Without an iteration, 'c' would be held back.

// CHECK-LABEL: tally.code @perhaps
// CHECK:      tally.for "i" {
// CHECK-NEXT:   tally.wait "lw" >= 1
tally.kernel @perhaps {
  tally.engine "sync"
  tally.engine "scalar"
  tally.engine "vector"
  tally.buffer "w" shape [128, 512] type "f32" space "sbuf"
  tally.buffer "v" shape [128, 512] type "f32" space "sbuf"
  tally.buffer "y" shape [64, 128, 8] type "f32" space "sbuf"
  tally.buffer "z" shape [128, 8] type "f32" space "sbuf"
  tally.instr "lw" on "sync" op "dma_copy(bytes=262144)" computes "0" writes ["w"]
  tally.instr "lv" on "scalar" op "dma_copy(bytes=262144)" computes "0" writes ["v"]
  tally.loop "i" trips "n" max 64 {
    tally.instr "a" on "vector" op "tensor_tensor(n=8)" computes "sum(r0 + r1)" reads ["w", "v"] writes ["y[i, 0:128, 0]"]
  }
  tally.instr "c" on "vector" op "memset(n=8)" computes "0" writes ["z"]
}

// Nothing comes behind the loop.

// CHECK-LABEL: tally.code @last
// CHECK:      tally.wait "lw" >= 1
// CHECK-NEXT: tally.for "i" {
tally.kernel @last {
  tally.engine "sync"
  tally.engine "scalar"
  tally.engine "vector"
  tally.buffer "w" shape [128, 512] type "f32" space "sbuf"
  tally.buffer "v" shape [128, 512] type "f32" space "sbuf"
  tally.buffer "y" shape [64, 128, 8] type "f32" space "sbuf"
  tally.instr "lw" on "sync" op "dma_copy(bytes=262144)" computes "0" writes ["w"]
  tally.instr "lv" on "scalar" op "dma_copy(bytes=262144)" computes "0" writes ["v"]
  tally.loop "i" trips "n" max 64 {
    tally.instr "a" on "vector" op "tensor_tensor(n=8)" computes "sum(r0 + r1)" reads ["w", "v"] writes ["y[i, 0:128, 0]"]
  }
}

// The branch may never be taken.

// CHECK-LABEL: tally.code @branch
// CHECK:      tally.branch "c" {
// CHECK-NEXT:   tally.wait "lw" >= 1
tally.kernel @branch {
  tally.engine "sync"
  tally.engine "scalar"
  tally.engine "vector"
  tally.buffer "w" shape [128, 512] type "f32" space "sbuf"
  tally.buffer "v" shape [128, 512] type "f32" space "sbuf"
  tally.buffer "y" shape [64, 128, 8] type "f32" space "sbuf"
  tally.instr "lw" on "sync" op "dma_copy(bytes=262144)" computes "0" writes ["w"]
  tally.instr "lv" on "scalar" op "dma_copy(bytes=262144)" computes "0" writes ["v"]
  tally.loop "i" trips "n" min 1 max 64 {
    tally.if "c" {
      tally.instr "a" on "vector" op "tensor_tensor(n=8)" computes "sum(r0 + r1)" reads ["w", "v"] writes ["y[i, 0:128, 0]"]
    }
  }
}

// Engines reset the counters between iterations of 'o'.
tally.kernel @resets {
  tally.engine "sync"
  tally.engine "scalar"
  tally.engine "vector"
  tally.buffer "w" shape [128, 512] type "f32" space "sbuf"
  tally.buffer "v" shape [128, 512] type "f32" space "sbuf"
  tally.buffer "y" shape [64, 128, 8] type "f32" space "sbuf"
  tally.loop "o" trips "m" {
    tally.instr "lw" on "sync" op "dma_copy(bytes=262144)" computes "0" writes ["w"]
    tally.instr "lv" on "scalar" op "dma_copy(bytes=262144)" computes "0" writes ["v"]
    tally.loop "i" trips "n" min 1 max 8 {
      tally.instr "a" on "vector" op "tensor_tensor(n=8)" computes "sum(r0 + r1)" reads ["w", "v"] writes ["y[i, 0:128, 0]"]
    }
  }
}
