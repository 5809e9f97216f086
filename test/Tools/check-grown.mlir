// Code that may grow can begin in another way than code of the usual length, with waits that are longer. It is held to what it is, and not
// called late: waits are those of the way that led to it.

// RUN: tally plan %s --machine=trn2 --why --quiet --max-code-growth=1.5 | FileCheck %s --check-prefix=GROWN
// GROWN: dependence asks
// RUN: tally plan %s --machine=trn2 --why --quiet | FileCheck %s --check-prefix=USUAL
// USUAL-NOT: dependence asks
// RUN: tally compile %s --machine=trn2 --max-code-growth=1.5 --quiet -o %t.mlir
// RUN: not tally check %t.mlir --quiet | FileCheck %s
// CHECK-NOT: late
// CHECK: explore: could not decide: with 64 in flight
// CHECK-NOT: late

// So is code for which there is a certificate, as far as it is covered.

// RUN: not tally compile %s --machine=trn2 --certify --max-code-growth=2 --quiet -o %t.covered.mlir
// RUN: not tally check %t.covered.mlir --quiet | FileCheck %s --check-prefix=COVERED
// COVERED-NOT: late
// COVERED: explore: could not decide: with 64 in flight

tally.kernel @blocks {
  tally.engine "sync" queues ["ld"]
  tally.engine "tensor"
  tally.engine "vector"
  tally.engine "gpsimd" queues ["st"]
  tally.buffer "w" shape [1, 4, 128, 512] type "bf16" space "sbuf"
  tally.buffer "a" shape [2, 4, 128, 512] type "bf16" space "sbuf"
  tally.buffer "c" shape [4, 128, 512] type "f32" space "psum"
  tally.buffer "s" shape [16, 4, 128, 512] type "f32" space "sbuf"
  tally.buffer "y" shape [3, 2, 16, 4, 128, 512] type "f32" space "hbm"
  tally.loop "n" trips 3 {
    tally.loop "kw" trips 4 {
      tally.instr "lw" on "ld" op "dma_copy(bytes=131072)" writes ["w[n mod 1, kw, 0:128, 0:512]"]
    }
    tally.loop "m" trips 2 {
      tally.loop "ka" trips 4 {
        tally.instr "la" on "ld" op "dma_copy(bytes=131072)" writes ["a[total(m) mod 2, ka, 0:128, 0:512]"]
      }
      tally.loop "j" trips 4 {
        tally.loop "i" trips 16 {
          tally.loop "k" trips 4 {
            tally.instr "mm" on "tensor" op "nc_matmul(nstat=128, nmov=512)" reads ["w[n mod 1, k, 0:128, 0:512]", "a[total(m) mod 2, k, 0:128, 0:512]"] accumulates ["c[total(i) mod 4, 0:128, 0:512]"]
          }
          tally.instr "add" on "vector" op "tensor_tensor(n=512)" reads ["c[total(i) mod 4, 0:128, 0:512]"] writes ["s[i, j, 0:128, 0:512]"]
        }
      }
      tally.loop "i2" trips 16 {
        tally.loop "j2" trips 4 {
          tally.instr "out" on "st" op "dma_copy(bytes=262144)" reads ["s[i2, j2, 0:128, 0:512]"] writes ["y[n, m, i2, j2, 0:128, 0:512]"]
        }
      }
    }
  }
}
