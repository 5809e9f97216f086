module {
  tally.kernel @seed6 {
    tally.engine "e0" weight 2
    tally.engine "e1" queues ["e1.q0" weight 3, "e1.q1"]
    tally.loop "L0" trips "n.L0" min 1 max 4 {
      tally.instr "i0" on "e1.q0"
    }
    tally.instr "i1" on "e1.q0"
    tally.loop "L1" while "while.L1" divergent {
      tally.loop "L2" trips 3 {
        tally.loop "L3" trips "n.L3" {
          tally.instr "i2" on "e1"
          tally.instr "i3" on "e1.q1"
          tally.instr "i4" on "e1.q1"
        }
      }
    }
  }
