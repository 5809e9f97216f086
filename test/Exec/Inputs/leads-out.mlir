// A name that would lead out of the folder of files.
tally.kernel @leads_out {
  tally.engine "act"
  tally.buffer "../x" shape [8] type "f32"
  tally.instr "set" on "act" computes "1" writes ["\22../x\22[0:8]"]
}
