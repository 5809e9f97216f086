// What the other written dependences imply is not waited for, if a run does not get longer.

// RUN: tally compile %s --machine=teaching --quiet -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir

// Code is right without: explored, and in all orders.

// RUN: tally check %s --machine=teaching --explore --max-trips=3 --quiet | FileCheck %s --check-prefix=EXACT
// RUN: tally check %t.mlir --machine=teaching --explore --race --max-trips=3 --quiet | FileCheck %s --check-prefix=EXACT
// EXACT: verdict: yes
// EXACT-NOT: verdict

// The plan says so, and what it gained; so does an explanation, with the chain.

// RUN: tally plan %s --machine=teaching --why --quiet | FileCheck %s --check-prefix=PLAN
// PLAN: 'x' -> 'y' {{.*}} group
// PLAN: 'y' -> 'z' {{.*}} group
// PLAN: 'x' -> 'z' implied - cost 0
// PLAN: 'z' -> 'x' at 'i' = 1 {{.*}} group
// PLAN: 'y' -> 'x' at 'i' = 1 implied - cost 0
// PLAN: * {{.*}} no wait for 2 dependences that others imply
// RUN: tally plan %s --machine=teaching --why --format=json --quiet | FileCheck %s --check-prefix=JSON
// JSON: "class": "implied"
// JSON: "step": "leave-out",
// JSON-NEXT: "taken": true
// RUN: tally explain %s --instr=z --machine=teaching --quiet | FileCheck %s --check-prefix=EXPLAIN
// EXPLAIN: waits for 'y' -> 'z'
// EXPLAIN: needs no wait for 'x' -> 'z'
// EXPLAIN-NEXT: class implied: no wait: other dependences imply it
// EXPLAIN-NEXT: implied by 'y' -> 'z', 'x' -> 'y'
// EXPLAIN-NOT: cost
// EXPLAIN: values:

// Other strategies wait for each dependence.

// RUN: tally plan %s --machine=teaching --sync=per-loop --quiet | FileCheck %s --check-prefix=KEPT
// KEPT: 'x' -> 'z' {{.*}} group
// KEPT-NOT: implied - cost

// A semaphore that an instruction is pinned to is raised and waited for.

// RUN: sed 's/"x" on "a"/"x" semaphore 5 on "a"/' %s | tally plan - --machine=teaching --quiet | FileCheck %s --check-prefix=PINNED
// PINNED: 'x' -> 'z' {{.*}} group
// PINNED: 'y' -> 'x' at 'i' = 1 implied - cost 0

// A certificate has a wait for each.

// RUN: tally compile %s --machine=teaching --certify -o %t.certified.mlir 2>&1 | FileCheck %s --check-prefix=CERTIFIED
// CERTIFIED: it looks for a wait for each dependence, so those that others imply have one

// CHECK: tally.program "a"
// CHECK-NOT: tally.wait
// CHECK: tally.issue "x" waits "z" >= "r1" for [3] signals "x"
// CHECK: tally.program "b"
// CHECK-NOT: tally.wait
// CHECK: tally.issue "y" waits "x" >= "r0" for [0] signals "y"
// CHECK: tally.program "c"
// CHECK-NOT: tally.wait
// CHECK: tally.issue "z" waits "y" >= "r0" for [1] signals "z"
tally.kernel @chain {
  tally.engine "a"
  tally.engine "b"
  tally.engine "c"
  tally.loop "i" trips = "$n" max 64 {
    tally.instr "x" on "a" op "activation(n=128)"
    tally.instr "y" on "b" op "activation(n=128)"
    tally.instr "z" on "c" op "activation(n=128)"
    tally.dep "x" -> "y"
    tally.dep "y" -> "z"
    tally.dep "x" -> "z"
    tally.dep "z" -> "x" at "i" = 1
    tally.dep "y" -> "x" at "i" = 1
  }
}
