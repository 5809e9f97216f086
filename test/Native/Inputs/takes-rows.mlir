// Which row is taken, only the data say.
tally.kernel @rows {
  tally.engine "load"
  tally.engine "work"
  tally.buffer "table" shape [4, 2] type "f32"
  tally.buffer "which" shape [3] type "i32"
  tally.buffer "taken" shape [3, 2] type "f32"
  tally.buffer "out" shape [3, 2] type "f32"
  tally.instr "take" on "load" computes "gather(r0, r1)" reads ["table[@]", "which"] writes ["taken"]
  tally.instr "double" on "work" computes "2 * r0" reads ["taken"] writes ["out"]
}
