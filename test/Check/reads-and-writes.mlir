// What an instruction reads does not hide an earlier reader of its queue from what it writes.
// RUN: tally compile %s --machine=generic --quiet -o %t.mlir
// RUN: not tally check %t.mlir --race | FileCheck %s
// RUN: tally compile %s --machine=generic --quiet --format=json -o %t.json
// RUN: not %python %source_dir/utils/outside/judge.py %t.json | FileCheck %s --check-prefix=OUTSIDE
// CHECK: race: nothing makes 'scale', which writes X, wait for 'use', which reads it
// CHECK: verdict: no
// OUTSIDE: 'scale' writes X{{.*}} and may be issued before run 0 of 'use', which reads X
tally.kernel @k {
  tally.engine "e0"
  tally.engine "e1"
  tally.buffer "X"
  tally.instr "use" on "e0" reads ["X"]
  tally.instr "scale" on "e0" reads ["X"] writes ["X"]
  tally.instr "store" on "e1" reads ["X"]
  tally.dep "scale" -> "store"
}
