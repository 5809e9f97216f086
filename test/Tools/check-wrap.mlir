// RUN: tally check %s --race --machine=%S/Inputs/byte-machine.json --trips=A=255 | FileCheck %s --check-prefix=FITS
// RUN: not tally check %s --race --machine=%S/Inputs/byte-machine.json --trips=A=256 --schedules=5 | FileCheck %s
// RUN: not tally check %s --race --machine=%S/Inputs/byte-machine.json --schedules=5 | FileCheck %s

// A machine of 8 bits counts to 255; the 256th load brings the semaphore back to 0. Without `--trips`, it is tried as well.

// FITS: verdict: yes
//
// CHECK: error: semaphore 'full' goes past 255, the largest value that a wait of 8 bits can tell, when 'load' on 'dma' raises it
// CHECK: verdict: no

tally.kernel @wrap {
  tally.engine "act"
  tally.engine "dma"
  tally.buffer "X" shape [300]
  tally.loop "A" trips "n" max 300 {
    tally.instr "load" on "dma" writes ["X[A]"]
    tally.instr "use" on "act" reads ["X[A]"]
  }
  tally.dep "load" -> "use" raw
}

tally.code @wrap {
  tally.semaphore "full"
  tally.program "act" {
    tally.register "w"
    tally.set "w" = 0
    tally.for "A" {
      tally.set "w" = "w" + 1
      tally.issue "use" waits "full" >= "w"
    }
  }
  tally.program "dma" {
    tally.for "A" {
      tally.issue "load" signals "full"
    }
  }
}
