// Code that is kept as it is written is held to what its accesses ask for, unless --deps=written says otherwise. That is an effect, so
// nothing warns of none. 'sim' holds the code to nothing, and --keep-implied keeps what nobody looks for: they warn.
//
// RUN: not tally check %s --explore | FileCheck %s
// CHECK: error: 'r' at i = 0 may be issued before 'w' has retired 1 time
// CHECK: verdict: no
//
// RUN: not tally check %s --explore --deps=written 2>&1 | FileCheck %s --check-prefix=WRITTEN
// WRITTEN-NOT: has no effect
// WRITTEN: explore: could not decide: nothing is compared: the kernel has no dependence, and none is taken from its accesses
//
// RUN: not tally check %s --explore --keep-implied 2>&1 | FileCheck %s --check-prefix=KEEP
// RUN: tally sim %s --machine=teaching --trips=n=3 --deps=written 2>&1 | FileCheck %s --check-prefix=SIM
// KEEP-COUNT-1: warning: '--keep-implied' has no effect on kernel 'na': its code is kept as it is written
// KEEP-NOT: has no effect
// SIM: warning: '--deps=written' has no effect on kernel 'na': its code is kept as it is written
//
// The code of another file, which was compiled, is held to the dependences that are found, or to none.
// RUN: sed '/^tally.code/,$d' %s > %t.kernel.mlir
// RUN: tally compile %t.kernel.mlir -o %t.code.mlir
// RUN: not tally check %t.kernel.mlir %t.code.mlir --explore --deps=written 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER-NOT: has no effect
// OTHER: error: 'r' at i = 0 is held back although all its dependences are satisfied

tally.kernel @na {
  tally.engine "a"
  tally.engine "b"
  tally.buffer "X" shape [4]
  tally.loop "i" trips "n" max 4 {
    tally.instr "w" on "a" writes ["X[i]"]
    tally.instr "r" on "b" reads ["X[i]"]
  }
}
tally.code @na strategy "manual" machine "generic" {
  tally.program "a" { tally.for "i" { tally.issue "w" } }
  tally.program "b" { tally.for "i" { tally.issue "r" } }
}
