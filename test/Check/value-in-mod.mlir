// RUN: tally check %s --race | FileCheck %s
// RUN: tally deps %s | FileCheck %s --check-prefix=DEPS

// Nothing is known of '$s', but '$s mod 2' is 0 or 1: it meets slot 1, and never slot 3. Finding and checking
// agree on that.

// DEPS: kernel 'within'{{.*}}: 1 dependence from 3 accesses
// DEPS: 'fill' -> 'use'
// CHECK: verdict: yes

tally.kernel @within {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [8]
  tally.instr "other" on "dma" writes ["X[3]"]
  tally.instr "fill" on "dma" writes ["X[1]"]
  tally.loop "A" trips 1 {
    tally.instr "use" on "act" reads ["X[$s mod 2] if A < 2"]
  }
}
