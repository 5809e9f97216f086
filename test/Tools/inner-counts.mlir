// A number that a nest of loops makes up is added up from outside: what does not change in the innermost loop is computed
// around it, and so is what the numbering from 1 has too many.
//
// RUN: tally compile %s --machine=trn2 --sync=per-loop | FileCheck %s
// CHECK: tally.program "tensor"
// CHECK: tally.for "a"
// CHECK: tally.set [[A:"r[0-9]+"]] = 8 * "r{{[0-9]+}}"
// CHECK-NEXT: tally.set [[A]] = "r{{[0-9]+}}" + [[A]]
// CHECK-NEXT: tally.set [[A]] = [[A]] - 8
// CHECK: tally.for "b"
// CHECK: tally.set [[B:"r[0-9]+"]] = 4 * "r{{[0-9]+}}"
// CHECK-NEXT: tally.set [[B]] = [[A]] + [[B]]
// CHECK-NEXT: tally.set [[B]] = [[B]] - 4
// CHECK: tally.for "c"
// CHECK: tally.set [[C:"r[0-9]+"]] = [[B]] + "r{{[0-9]+}}"
// CHECK-NEXT: tally.set [[C]] = [[C]] min "r{{[0-9]+}}"
// CHECK-NEXT: tally.issue "use"
// RUN: tally check %s --machine=trn2 --sync=per-loop --trips=m=3 --explore | FileCheck %s --check-prefix=EXACT
// EXACT: exact
// RUN: tally check %s --machine=trn2 --sync=per-loop --race | FileCheck %s --check-prefix=YES
// YES: verdict: yes

tally.kernel @inner {
  tally.engine "sync"
  tally.engine "tensor"
  tally.buffer "x" shape [2, 4, 128, 8] type "f32"
  tally.loop "m" trips "m" max 1000 {
    tally.loop "l" trips 4 {
      tally.instr "load" on "sync" writes ["x[m mod 2, l, 0:128, 0:8]"] op "dma_copy(bytes=4096)"
    }
    tally.loop "a" trips 2 {
      tally.loop "b" trips 2 {
        tally.loop "c" trips 4 {
          tally.instr "use" on "tensor" reads ["x[m mod 2, c, 0:128, 0:8]"] op "nc_matmul(nstat=8, nmov=8)"
        }
      }
    }
  }
}
