// Counters of 8 bits are reset. What that takes is in the times by which `auto` chooses: with one semaphore for the
// whole queue the run seems to be shorter, but counters need more resets.
//
// RUN: %python %S/../Exec/Inputs/small_machine.py %source_dir/machines/trn2.json unsigned > %t.small.json
// RUN: tally sim %s --machine=%t.small.json --quiet | FileCheck %s --check-prefix=AUTO
// RUN: tally sim %s --machine=%t.small.json --quiet --sync=per-loop | FileCheck %s --check-prefix=LOOP
// RUN: tally plan %s --machine=%t.small.json --quiet --why | FileCheck %s
// AUTO: total 22.638 us
// LOOP: total 22.833 us
// CHECK: * 22.638 us
// CHECK: 24.403 us +7.80% {{.*}} one semaphore for all of queue 'in'
tally.kernel @narrow {
  tally.engine "sync" queues ["in" weight 16]
  tally.buffer "near" shape [64, 16] type "f32" space "hbm"
  tally.buffer "far" shape [64, 16] type "f32" space "hbm"
  tally.buffer "x" shape [2, 16] type "f32" space "sbuf"
  tally.loop "A" while "more" {
    tally.loop "B" trips 3 {
      tally.loop "C" trips 4 {
        tally.if "is_near" {
          tally.instr "near" on "in" op "dma_copy(bytes=65536)" computes "r0" reads ["near[C mod 64, 0:16]"] writes ["x[C mod 2, 0:16]"]
        } else {
          tally.instr "far" on "in" op "dma_copy(bytes=65536)" computes "r0" reads ["far[C mod 64, 0:16]"] writes ["x[C mod 2, 0:16]"]
        }
      }
    }
  }
}
