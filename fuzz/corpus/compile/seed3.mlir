module {
  tally.kernel @seed3 {
    tally.engine "e0" weight 3 queues ["e0.q0" weight 2]
    tally.engine "e1" weight 3
    tally.engine "e2" weight 3
    tally.engine "e3" weight 3
    tally.loop "L0" trips 0 {
      tally.instr "i0" on "e0.q0"
    }
    tally.loop "L1" trips 4 {
      tally.instr "i1" on "e2"
    }
    tally.loop "L2" trips 4 {
      tally.instr "i2" on "e1"
      tally.instr "i3" on "e0.q0"
      tally.loop "L3" trips 4 {
        tally.loop "L4" trips 2 {
          tally.loop "L5" trips 3 {
            tally.instr "i4" on "e0"
          }
          tally.instr "i5" on "e0.q0"
          tally.instr "i6" on "e3"
          tally.instr "i7" on "e1"
          tally.instr "i8" on "e0"
        }
      }
    }
    tally.dep "i1" -> "i2" waw element -1
    tally.dep "i0" -> "i3" war element 1
    tally.dep "i4" -> "i6" war at "L4" = 3
    tally.dep "i5" -> "i4" raw at "L2" = 1, "L3" = 1, "L4" = -1
    tally.dep "i7" -> "i2" waw at "L2" = 3
    tally.dep "i8" -> "i2" waw at "L2" = 2
    tally.dep "i6" -> "i8" waw at "L2" = 1
    tally.dep "i6" -> "i3" at "L2" = 1
  }
