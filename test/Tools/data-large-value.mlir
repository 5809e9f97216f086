// RUN: not tally sim --data %s 2>&1 | FileCheck %s
// Four axes of 2^16 are 2^64 elements, and not none; two of them are too many.

tally.kernel @k {
  tally.engine "a"
  tally.buffer "X" shape [65536, 1, 1, 1] type "f32"
  tally.buffer "Y" shape [1, 65536, 1, 1] type "f32"
  tally.buffer "V" shape [1, 1, 65536, 1] type "f32"
  tally.buffer "U" shape [1, 1, 1, 65536] type "f32"
  tally.buffer "W" shape [1] type "f32"
  tally.instr "l" on "a" reads ["X", "Y", "V", "U"] writes ["W"] computes "sum(sum(sum(sum(r0 + r1 + r2 + r3))))"
}
// CHECK: error: {{.*}}[65536, 65536, 1, 1] has more than 268435456 elements, the most of one value; compute it in parts
