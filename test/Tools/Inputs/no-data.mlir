tally.kernel @nothing {
  tally.engine "act"
  tally.buffer "X" shape [4]
  tally.buffer "Y" shape [4] type "f12"
  tally.instr "copy" on "act" reads ["X"] writes ["Y"]
}
