// Bodies of one pass share the waits whose thresholds stand still in the loop: a panel is loaded for each 'n' and used
// in every 'k'.

// RUN: tally compile %s --sync=auto --machine=trn2 --max-code-growth=2 -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir --check-prefix=CODE
// RUN: tally compile %s --sync=auto --machine=trn2 --max-code-growth=2 --listing | FileCheck %s --check-prefix=LISTING
// CODE-LABEL: tally.program "tensor" {
// CODE:      tally.for "k" unroll [[U:[0-9]+]] {
// CODE:        tally.wait "panel" >= {{.*}} for {{\[[0-9]\]}} once{{$}}
// CODE:        tally.issue "product" waits "column" >= "{{.*}}" for {{\[[0-9]\]}} signals "product"
// LISTING: loop k{{.*}}, [[#]] at a time:
// LISTING: {panel >= {{.*}}, once a pass}

// The word is read again, from text and from JSON, and it is in the compact form, too.
// RUN: tally compile %t.mlir --sync=manual --format=json -o %t.json
// RUN: FileCheck %s --input-file=%t.json --check-prefix=JSON
// RUN: tally compile %t.json --sync=manual | sed 's/"manual"/"auto"/; s/strategy "auto" //' > %t.1
// RUN: sed 's/strategy "auto" //' %t.mlir | diff - %t.1
// RUN: tally compile %t.json --sync=manual --format=json --compact -o %t.compact.json
// RUN: tally compile %t.compact.json --sync=manual | sed 's/"manual"/"auto"/; s/strategy "auto" //' | diff %t.1 -
// JSON: {"op": "wait", "wait": {"semaphore": [[#]], "threshold": {"register": [[#]]}, "dependences": {{\[[0-9]\]}}, "once": true}}

// All that judges code sees the wait in every iteration; the simulator sees it in the first of a pass.
// RUN: tally check %t.mlir --sync=manual --machine=trn2 --explore --trips=n=3 --trips=k=5,1 | FileCheck %s --check-prefix=EXPLORED
// RUN: tally check %t.mlir --sync=manual --machine=trn2 --race --trips=n=3 --trips=k=9,0,1 | FileCheck %s --check-prefix=RACED
// RUN: tally sim %t.mlir --sync=manual --machine=trn2 --trips=n=1 --trips=k=64 --format=json > %t.once
// RUN: sed 's/ once$//' %t.mlir > %t.every.mlir
// RUN: tally sim %t.every.mlir --sync=manual --machine=trn2 --trips=n=1 --trips=k=64 --format=json > %t.every
// RUN: %python -c "import json, sys; once, every = (json.load(open(f))['runs'][0]['total_ps'] for f in sys.argv[1:]); assert once < every, (once, every)" %t.once %t.every
// EXPLORED: explore: yes: exact
// RACED: verdict: yes

// Refused where it does not follow that the other bodies would pass.
// RUN: sed 's/column" >= \("[^"]*"\) for \(\[[0-9]\]\)/column" >= \1 for \2 once/' %t.mlir > %t.changes.mlir
// RUN: not tally check %t.changes.mlir --sync=manual --machine=trn2 --race 2>&1 | FileCheck %s --check-prefix=CHANGES
// CHANGES: error: in the code of engine 'tensor': a wait is tested once in a pass, but its threshold, register '{{.*}}', changes in the loop
// RUN: sed 's/ unroll [0-9]*//' %t.mlir > %t.idle.mlir
// RUN: not tally check %t.idle.mlir --sync=manual --machine=trn2 --race 2>&1 | FileCheck %s --check-prefix=IDLE
// IDLE: error: in the code of engine 'tensor': 'once' stands at a wait that no unrolled loop directly holds

tally.kernel @panel {
  tally.engine "sync" weight 16
  tally.engine "vector"
  tally.engine "tensor"
  tally.buffer "P" shape [2] type "f32"
  tally.buffer "C" shape [4] type "f32"
  tally.loop "n" trips "n" min 1 max 64 {
    tally.instr "panel" on "sync" op "dma_copy(bytes=65536)" writes ["P[n mod 2]"]
    tally.loop "k" trips "k" max 64 {
      tally.instr "column" on "vector" op "tensor_copy(n=1)" writes ["C[total(k) mod 4]"]
      tally.instr "product" on "tensor" op "nc_matmul(nstat=1, nmov=1)" reads ["P[n mod 2]", "C[total(k) mod 4]"]
    }
  }
}
