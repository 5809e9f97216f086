// All that is read, is read before it is written: 'sum' for sure, the others only in later iterations, if at all.
tally.kernel @early {
  tally.engine "act"
  tally.buffer "sum" shape [8] type "f32"
  tally.buffer "last" shape [8] type "f32"
  tally.buffer "some" shape [8] type "f32"
  tally.buffer "few" shape [8] type "f32"
  tally.loop "A" trips "n" max 8 {
    tally.instr "add" on "act" computes "r0 + 1" reads ["sum[A]"] writes ["sum[A]"]
    tally.instr "follow" on "act" computes "r0 + 1" reads ["last[A - 1] if A > 0"] writes ["last[A]"]
    tally.loop "B" trips "m" max 8 {
      tally.instr "take" on "act" computes "r0" reads ["some[B]"] writes ["sum[B]"]
    }
    tally.if "later" {
      tally.instr "use" on "act" computes "r0" reads ["few[A]"] writes ["sum[A]"]
    }
    tally.instr "bring" on "act" computes "A" writes ["some[A]"]
    tally.instr "fetch" on "act" computes "A" writes ["few[A]"]
  }
}
