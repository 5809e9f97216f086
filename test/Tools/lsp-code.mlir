// Where a file has code, hover says that what it tells is of other code.
// RUN: %python %S/Inputs/lsp.py %s 'hover:issue "us^e"' | FileCheck %s
// CHECK: instruction `use` on queue `act`
// CHECK: **waits for**, in code that tally would make (not in the code of this file)
tally.kernel @k {
  tally.engine "act"
  tally.engine "dma"
  tally.loop "A" trips 4 {
    tally.instr "load" on "dma"
    tally.instr "use" on "act"
  }
  tally.dep "load" -> "use"
}
tally.code @k strategy "manual" {
  tally.program "act" {
    tally.for "A" {
      tally.issue "use"
    }
  }
  tally.program "dma" {
    tally.for "A" {
      tally.issue "load"
    }
  }
}
