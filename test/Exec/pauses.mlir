// RUN: tally compile %s --sync=per-loop --machine=teaching --emit=c++ --pauses --quiet | FileCheck %s
// RUN: tally compile %s --sync=per-loop --machine=teaching --emit=c++ --quiet | FileCheck %s --check-prefix=PLAIN
// RUN: tally compile %s --sync=per-loop --machine=teaching --emit=llvm --pauses --quiet | FileCheck %s --check-prefix=LLVM
//
// With pauses, an instruction reads what it says it reads, where that is known, though it computes nothing; so a race shows.
//
// CHECK: void look(
// CHECK: tally::pause();
// CHECK: if (touches_r0) {
// CHECK: tally::touch(X[
// CHECK: 'anywhere' does nothing
// PLAIN-NOT: tally::touch(X[
// PLAIN: 'look' does nothing
// LLVM: load volatile

tally.kernel @k {
  tally.engine "a"
  tally.engine "b"
  tally.buffer "X" shape [4, 8] type "f32"
  tally.loop "A" trips 4 {
    tally.instr "fill" on "a" computes "A" writes ["X[A mod 2, 0:8]"]
    tally.instr "look" on "b" reads ["X[A mod 2, 0:8] if A != 1"]
    tally.instr "anywhere" on "b" reads ["X[@]"]
  }
}
