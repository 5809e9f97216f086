// Every function, on numbers and on whole numbers of several formats, between two engines.
tally.kernel @functions {
  tally.engine "left"
  tally.engine "right" queues ["side"]
  tally.buffer "in" shape [2, 4, 6] type "f32"
  tally.buffer "half" shape [4, 6] type "f16"
  tally.buffer "tiny" shape [4, 6] type "fp8_e4m3fn"
  tally.buffer "small" shape [4, 6] type "i8"
  tally.buffer "medium" shape [4, 6] type "u16"
  tally.buffer "large" shape [4, 6] type "i32"
  tally.buffer "huge" shape [24] type "u32"
  tally.buffer "a" shape [4, 6] type "f32"
  tally.buffer "b" shape [4, 6] type "f32"
  tally.buffer "c" shape [4, 6] type "f32"
  tally.buffer "column" shape [4] type "f32"
  tally.buffer "rows" shape [6, 4] type "bf16"
  tally.buffer "sum" shape [6, 6] type "f32"
  tally.buffer "best" shape [4, 2] type "f32"
  tally.buffer "places" shape [4, 2] type "i32"
  tally.buffer "scattered" shape [8, 6] type "f32"
  tally.instr "clear" on "left" computes "0; 0; 0" writes ["sum", "scattered", "best"]
  tally.loop "A" trips 2 {
    tally.instr "numbers" on "left" computes "abs(r0) + sign(r0) * floor(8 * r0) - ceil(r0) / (trunc(4 * r0) + 0.5); round(10 * r0) + reciprocal(r0 + 3) + square(r0) - sqrt(abs(r0)) * rsqrt(2 + r0); exp(r0) + log(2 + r0) + sin(r0) * cos(r0) - arctan(r0) + tanh(r0) * erf(r0)" reads ["in[A, 0:4, 0:6]"] writes ["a", "b", "c"]
    tally.instr "activations" on "right" computes "sigmoid(r0) + silu(r1) + gelu(r2) + softplus(-r0); max(r0, r1) - min(r1, r2) + pow(abs(r0), 0.5) + mod(r1, 0.3)" reads ["a", "b", "c"] writes ["half", "tiny"]
    tally.instr "choices" on "right" computes "select(r0 < r1, r0, select(r1 >= 0.25, A, -inf)); (r0 <= r1) + (r0 > r1) * 2 + (r0 == r1) * 4 + (r0 != r1) * 8" reads ["a", "b"] writes ["a", "b"]
    tally.instr "wholes" on "left" computes "iadd(100000000 * r0, imul(7, bits(r1))); bitand(bits(r0), bitnot(bits(r1))); shl(bits(r0), 3); reshape(bitor(shr(bits(r0), 7), sar(bits(r1), 9)), [24])" reads ["c", "half"] writes ["large", "small", "medium", "huge"]
    tally.instr "moved" on "side" computes "r0; r1" reads ["huge", "large"] writes ["large", "medium"]
    tally.instr "formats" on "side" computes "bf16(r0) + f16(r0) + fp8_e5m2(r1) + fp8_e3m4(r1); i8(100 * r0) + u8(r1) - i16(r2); frombits(bitxor(bits(r0), isub(r2, 5)))" reads ["half", "tiny", "large"] writes ["a", "b", "c"]
    tally.instr "sums" on "left" computes "sum(r0) + product(r0) - max(r0) * min(r0)" reads ["half"] writes ["column"]
    tally.instr "axes" on "left" computes "r2 + reshape(sum(permute(reshape(r0, [2, 2, 6]), [2, 0, 1]), [0, 2]) * sum(r1), [2, 1])" reads ["half", "column[0:4]", "best[0:2, 0:2]"] writes ["best[0:2, 0:2]"]
    tally.instr "turned" on "right" computes "transpose(r0 * 2 + r1)" reads ["half", "column"] writes ["rows"]
    tally.instr "product" on "right" computes "start(A, matmul(r0, r1))" reads ["half", "c"] accumulates ["sum"]
    tally.instr "running" on "side" computes "scan(*, +, 0.5, r0, r1)" reads ["half", "column"] writes ["a"]
    tally.instr "largest" on "left" computes "top(r0, 2); find(r0, top(r0, 2))" reads ["half"] writes ["best", "places"]
    tally.instr "without" on "left" computes "replace(r0, r1, -1); r0 + index([4, 6], 1) * 10 + A" reads ["half", "best"] writes ["b", "c"]
    tally.instr "scatter" on "right" computes "scatter(gather(r0, mod(r1, 4)), 3 * A + index([4], 0))" reads ["c[@]", "places[0:4, 0]"] writes ["scattered[@]"]
    tally.instr "first" on "left" computes "r0 + r1" reads ["half if A == 0", "large if A == 1"] writes ["half if A < 1"]
  }
}
