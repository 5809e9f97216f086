// Counters of 8 bits and a loop without a bound: reset on the way, refused, or assumed to fit.

// RUN: tally compile %s --machine=%S/Inputs/byte-machine.json -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t.mlir --check-prefix=CODE
// RUN: tally plan %s --machine=%S/Inputs/byte-machine.json 2>/dev/null | FileCheck %s --check-prefix=PLAN

// REMARK: overflow.mlir:[[#]]:3: remark: engines drain and reset the counters in 'A' after every 254 iterations of it: counters of 'A' have room for 254 entries of it (8 bits; an entry adds up to 1); a bound 'max' on the trips of 'A' would settle it
//
// CODE:      tally.for "A" {
// CODE-NEXT:   tally.set [[T:".*"]] = "r0" gt 253
// CODE-NEXT:   tally.when [[T]] {
// CODE-NEXT:     tally.barrier ["act", "dma"] {
// CODE:          }
// CODE-NEXT:     tally.set "r0" = 0
// CODE-NEXT:   }
// CODE-NEXT:   tally.set "r0" = "r0" + 1
//
// PLAN:      resets:
// PLAN-NEXT:   every 254 iterations of 'A'

// Both ways of writing it down are read again.
// RUN: tally compile %t.mlir --sync=manual --machine=%S/Inputs/byte-machine.json -o %t1.mlir
// RUN: tally compile %t1.mlir --sync=manual --machine=%S/Inputs/byte-machine.json --format=json -o %t.json
// RUN: tally compile %t.json --sync=manual --machine=%S/Inputs/byte-machine.json -o %t2.mlir
// RUN: diff %t1.mlir %t2.mlir
// RUN: tally compile %s --machine=%S/Inputs/byte-machine.json --format=scf 2>/dev/null | FileCheck %s --check-prefix=SCF
// SCF: [[DUE:%.*]] = arith.cmpi ne, %{{.*}}, %{{.*}} : i32
// SCF: scf.if [[DUE]] -> (i32)

// Far beyond what 8 bits count, nothing is overtaken; without the resets it would be.
// RUN: tally check %s --race --machine=%S/Inputs/byte-machine.json --trips=A=1000 2>/dev/null | FileCheck %s --check-prefix=RIGHT
// RUN: not tally check %s --race --machine=%S/Inputs/byte-machine.json --trips=A=1000 --schedules=5 --overflow=assume 2>/dev/null | FileCheck %s --check-prefix=WRAPS
// RUN: tally sim %s --machine=teaching --set limits.counter_bits=8 --trips=A=1000 2>/dev/null | FileCheck %s --check-prefix=SIM
// RIGHT-NOT: error
// RIGHT: verdict: yes
// WRAPS: error: semaphore '{{use|next}}' goes past 255
// SIM: 3000 instructions

// RUN: not tally compile --sync=per-loop %s --machine=%S/Inputs/byte-machine.json --overflow=refuse 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: overflow.mlir:[[#]]:3: error: counters of 'A' have room for 126 entries of it (8 bits; an entry adds up to 2); a bound 'max' on the trips of 'A' would settle it
// RUN: tally compile %s --machine=%S/Inputs/byte-machine.json --overflow=assume 2>&1 | FileCheck %s --check-prefix=ASSUMED
// ASSUMED: remark: counters of 'A' have room for 254 entries of it
// ASSUMED-NOT: tally.when

tally.kernel @long {
  tally.engine "act"
  tally.engine "dma"
  tally.buffer "X" shape [4]
  tally.loop "A" trips "n" {
    tally.instr "load" on "dma" writes ["X[A mod 4]"]
    tally.instr "next" on "dma"
    tally.instr "use" on "act" reads ["X[A mod 4]"]
  }
  tally.dep "load" -> "use" raw
  tally.dep "next" -> "use"
  tally.dep "use" -> "load" war at "A" = 4
}
