// A nest of three loops: the innermost is unrolled by 4 with its remainder at run time, and its engines meet.

// RUN: tally compile --sync=per-loop %s -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir --check-prefix=CODE
// CODE-LABEL: tally.program "load" {
// CODE:      tally.for "k" unroll 4 {
// CODE-NEXT:   tally.issue "panel" signals "k.load" by 16
// CODE-NEXT:   tally.barrier ["load", "tensor"] {
// CODE-LABEL: tally.program "vector" {
// CODE:      tally.for "k" unroll 4 {
// CODE-NEXT:   tally.set "r0" = "r0" + 1
// CODE-NEXT: }
// CODE-NEXT: tally.issue "sum" waits "k.tensor" >= "r0" for [2]

// 'auto' does not run the loop to count it.
// RUN: tally compile %s --sync=auto -o %t.auto.mlir
// RUN: FileCheck %s --input-file=%t.auto.mlir --check-prefix=AUTO
// RUN: tally compile %s --sync=auto --listing | FileCheck %s --check-prefix=LISTING
// AUTO-LABEL: tally.program "vector" {
// AUTO:      tally.for "k" at_once {
// AUTO-NEXT:   tally.set "r0" = "r0" + 1
// AUTO-NEXT: }
// LISTING: loop k, 4 at a time:
// LISTING: loop k, at once:

// Both ways of writing it down are read again.
// RUN: tally compile %t.auto.mlir --sync=manual --format=json -o %t.json
// RUN: FileCheck %s --input-file=%t.json --check-prefix=JSON
// RUN: tally compile %t.json --sync=manual | sed 's/"manual"/"auto"/; s/strategy "auto" //' > %t.1
// RUN: sed 's/strategy "auto" //' %t.auto.mlir | diff - %t.1
// JSON: {"loop": "k", "trips": {"value": "tiles_k", "max": 64}, "unroll": 4, "sync": "barrier", "body": [
// JSON: {"op": "loop", "loop": "k", "counter": null, "unroll": 4, "body": [
// JSON: {"op": "loop", "loop": "k", "counter": null, "unroll": 0, "body": [

// Written out there are four bodies in a pass, and one in what is left. Sums at once need no loop.
// RUN: tally compile %s --sync=auto --format=scf | FileCheck %s --check-prefix=SCF
// SCF-LABEL: func.func @nest_load()
// SCF-COUNT-4: tally.run "panel" signals "k.load" by 16
// SCF:         scf.for
// SCF:         tally.run "panel" signals "k.load" by 16
// SCF-NOT:     tally.run "panel"
// SCF-LABEL: func.func @nest_vector()
// SCF:       %[[N:.*]] = tally.trips "k" : index
// SCF-NEXT:  %[[TRIPS:.*]] = arith.index_cast %[[N]] : index to i32
// SCF-NEXT:  arith.addi %{{.*}}, %[[TRIPS]] : i32
// SCF-NEXT:  tally.run "sum"

// All interleavings: never early, never stuck; over many trips: no race.
// RUN: tally check %s --explore --trips=m=2 --trips=n=1,0,2 --trips=k=3,0,1 | FileCheck %s --check-prefix=EXPLORED
// RUN: tally check %t.mlir --explore --trips=m=1 --trips=n=1 --trips=k=1 | FileCheck %s --check-prefix=EXPLORED
// RUN: tally check %s --sync=auto --race --trips=m=2 --trips=n=3 --trips=k=5,4,0,9 | FileCheck %s --check-prefix=RACED
// EXPLORED: explore: yes: safe
// RACED: verdict: yes

// Branches of 4 at a time: 16 iterations are 4 passes.
// RUN: sed 's/ unroll 4//' %s > %t.plain.mlir
// RUN: tally sim %t.plain.mlir --machine=teaching --trips=m=1 --trips=n=1 --trips=k=16 | FileCheck %s --check-prefix=PLAIN
// RUN: tally sim %s --machine=teaching --trips=m=1 --trips=n=1 --trips=k=16 | FileCheck %s --check-prefix=UNROLLED
// PLAIN: total 8.800 us
// UNROLLED: total 8.570 us

// Under a budget, more is written out, what the kernel says stays.
// RUN: tally compile %t.plain.mlir --sync=auto --max-code-growth=2 | FileCheck %s --check-prefix=GROWN
// GROWN: tally.for "k" unroll
// RUN: tally compile %s --sync=auto --max-code-growth=100 | FileCheck %s --check-prefix=KEPT
// KEPT-NOT: tally.for "k" unroll {{[^4]}}

// RUN: not tally compile %s --max-code-growth=0.5 2>&1 | FileCheck %s --check-prefix=RANGE
// RANGE: --max-code-growth

// RUN: tally compile %s --sync=barrier 2>&1 | FileCheck %s --check-prefix=WHOLE
// WHOLE: regions.mlir:[[#]]:7: remark: strategy 'barrier' is for whole kernels: 'k' is not synchronised 'barrier'

// All mistakes at once.
// RUN: sed 's/unroll 4 sync "barrier"/unroll full sync "barier"/; s/trips "tiles_n" max 64/while "more" unroll 2/' %s > %t.wrong.mlir
// RUN: not tally compile %t.wrong.mlir 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG-DAG: error: unknown strategy 'barier' of a region; one of 'per-instruction', 'per-loop', 'per-engine', 'barrier' is allowed

tally.kernel @nest {
  tally.engine "load" weight 16
  tally.engine "tensor"
  tally.engine "vector"
  tally.loop "m" trips "tiles_m" max 64 {
    tally.loop "n" trips "tiles_n" max 64 {
      tally.loop "k" trips "tiles_k" max 64 unroll 4 sync "barrier" {
        tally.instr "panel" on "load"
        tally.instr "product" on "tensor"
      }
      tally.instr "sum" on "vector"
    }
  }
  tally.dep "panel" -> "product"
  tally.dep "product" -> "panel" at "k" = 2
  tally.dep "product" -> "sum"
  tally.dep "sum" -> "product" at "n" = 1
}
