// A wait for a producer in the loop stays in the loop if that may have no iteration.

// RUN: tally check %s --overflow=assume --explore --max-trips=2 --quiet | FileCheck %s
// RUN: tally sim %s --machine=teaching --overflow=assume --trips=L0=0 --quiet | FileCheck %s --check-prefix=NONE
// CHECK: verdict: yes
// NONE: 0 instructions
tally.kernel @k {
  tally.engine "e0"
  tally.engine "e1"
  tally.loop "L0" trips "n" {
    tally.instr "i0" on "e1"
    tally.instr "i1" on "e1"
    tally.instr "i2" on "e0"
  }
  tally.dep "i1" -> "i2" element [0, 0] each 0 over "L0"
  tally.dep "i0" -> "i2"
}
