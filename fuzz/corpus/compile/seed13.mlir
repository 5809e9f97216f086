module {
  tally.kernel @seed13 {
    tally.engine "e0" weight 2
    tally.instr "i0" on "e0"
    tally.instr "i1" on "e0"
    tally.instr "i2" on "e0"
    tally.if "c0" {
      tally.if "c1" {
        tally.loop "L0" trips 1 {
          tally.instr "i3" on "e0"
          tally.if "c2" {
            tally.instr "i4" on "e0"
            tally.instr "i5" on "e0"
            tally.instr "i6" on "e0"
            tally.instr "i7" on "e0"
          }
        }
      }
    }
  }
