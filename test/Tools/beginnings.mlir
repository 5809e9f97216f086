// Which way to begin is best is known only when the code is finished: with waits before loops, and with loops unrolled.

// Ways are timed with their waits moved. Without that, code that computes exact values looks better: it took 356.352 us.

// RUN: tally sim %s --kernel=blocks --machine=trn2 --quiet | FileCheck %s --check-prefix=AS-LARGE
// AS-LARGE: total 350.017 us

// If code may grow, other ways are finished, too. The one that is ahead before loops are unrolled would take 300.150 us.

// RUN: tally plan %s --kernel=blocks --machine=trn2 --max-code-growth=1.5 --why --quiet | FileCheck %s --check-prefix=GROWS
// GROWS:      351.069 us {{.*}} without use of constant trips
// GROWS:    * 356.352 us {{.*}} all that saves control
// GROWS:    * 240.402 us
// GROWS-NEXT: 300.150 us {{ *}}+24.{{.*}} finished from: without use of constant trips
// GROWS-NEXT: 280.349 us {{.*}} finished from: without tables of distances

// RUN: tally compile %s --kernel=blocks --machine=trn2 --max-code-growth=1.5 --quiet -o %t.mlir
// RUN: tally check %t.mlir --race --quiet | FileCheck %s --check-prefix=YES
// YES: verdict: yes

// Bodies that add nothing to the code are written before any loop is tried by itself.

// RUN: tally plan %s --kernel=free --machine=trn2 --max-code-growth=1.5 --why --quiet | FileCheck %s --check-prefix=FREE
// FREE: * {{.*}} us {{.*}} 'a' on 'tensor' with 2, 'b' on 'tensor' with 2, 'c' on 'tensor' with 2 and 'n' on 'vector' with 2 bodies for a branch
// FREE-NOT: bodies for a branch

// Waits that stay in loops, since runs would take longer otherwise, are timed where they are: 38.583 us with them moved.

// RUN: tally plan %s --kernel=stays --machine=trn2 --why --quiet | FileCheck %s --check-prefix=STAYS
// STAYS: * 38.432 us
// RUN: tally sim %s --kernel=stays --machine=trn2 --quiet | FileCheck %s --check-prefix=STAYS-SO
// STAYS-SO: total 38.432 us

tally.kernel @blocks {
  tally.engine "sync" queues ["ld"]
  tally.engine "tensor"
  tally.engine "vector"
  tally.engine "gpsimd" queues ["st"]
  tally.buffer "w" shape [2, 4, 128, 512] type "bf16" space "sbuf"
  tally.buffer "a" shape [1, 4, 128, 512] type "bf16" space "sbuf"
  tally.buffer "c" shape [4, 128, 512] type "f32" space "psum"
  tally.buffer "s" shape [4, 2, 128, 512] type "f32" space "sbuf"
  tally.buffer "y" shape [4, 4, 4, 2, 128, 512] type "f32" space "hbm"
  tally.loop "n" trips 4 {
    tally.loop "kw" trips 4 {
      tally.instr "lw" on "ld" op "dma_copy(bytes=131072)" writes ["w[n mod 2, kw, 0:128, 0:512]"]
    }
    tally.loop "m" trips 4 {
      tally.loop "ka" trips 4 {
        tally.instr "la" on "ld" op "dma_copy(bytes=131072)" writes ["a[total(m) mod 1, ka, 0:128, 0:512]"]
      }
      tally.loop "j" trips 2 {
        tally.loop "i" trips 4 {
          tally.loop "k" trips 4 {
            tally.instr "mm" on "tensor" op "nc_matmul(nstat=128, nmov=512)" reads ["w[n mod 2, k, 0:128, 0:512]", "a[total(m) mod 1, k, 0:128, 0:512]"] accumulates ["c[total(i) mod 4, 0:128, 0:512]"]
          }
          tally.instr "add" on "vector" op "tensor_tensor(n=512)" reads ["c[total(i) mod 4, 0:128, 0:512]"] writes ["s[i, j, 0:128, 0:512]"]
        }
      }
      tally.loop "i2" trips 4 {
        tally.loop "j2" trips 2 {
          tally.instr "out" on "st" op "dma_copy(bytes=262144)" reads ["s[i2, j2, 0:128, 0:512]"] writes ["y[n, m, i2, j2, 0:128, 0:512]"]
        }
      }
    }
  }
}

tally.kernel @free {
  tally.engine "tensor"
  tally.engine "vector"
  tally.buffer "p" shape [2, 128, 512] type "f32" space "psum"
  tally.loop "n" trips 16 {
    tally.loop "a" trips 2 {
      tally.instr "ma" on "tensor" op "nc_matmul(nstat=128, nmov=512)" accumulates ["p[n mod 2, 0:128, 0:512]"]
    }
    tally.loop "b" trips 2 {
      tally.instr "mb" on "tensor" op "nc_matmul(nstat=128, nmov=512)" accumulates ["p[n mod 2, 0:128, 0:512]"]
    }
    tally.loop "c" trips 2 {
      tally.instr "mc" on "tensor" op "nc_matmul(nstat=128, nmov=512)" accumulates ["p[n mod 2, 0:128, 0:512]"]
    }
    tally.instr "out" on "vector" op "tensor_copy(n=512)" reads ["p[n mod 2, 0:128, 0:512]"]
  }
}

tally.kernel @stays {
  tally.engine "scalar"
  tally.engine "gpsimd" queues ["st" weight 16]
  tally.buffer "a" shape [3, 128, 512] type "bf16" space "hbm"
  tally.instr "first" on "scalar" op "activation(n=128)" reads ["a[0, 0:128, 0:512]"]
  tally.loop "i" trips 4 {
    tally.loop "j" trips 4 {
      tally.instr "copy" on "st" op "dma_copy(bytes=131072)" reads ["a[j mod 3, 0:128, 0:512]"] writes ["a[total(i) mod 3, 0:128, 0:512]"]
    }
  }
}
