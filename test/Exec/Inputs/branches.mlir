// Conditions, loops of run-time trips and of formulas, `total` and `trips` in tiles, guards: on three engines.
tally.kernel @branches {
  tally.engine "load"
  tally.engine "work"
  tally.engine "int" queues ["double"]
  tally.buffer "in" shape [64, 8] type "i32"
  tally.buffer "x" shape [3, 8] type "i32"
  tally.buffer "y" shape [2, 8] type "i32"
  tally.buffer "out" shape [64, 8] type "i32"
  tally.buffer "log" shape [40] type "i16"
  tally.instr "number" on "load" computes "imul(index([64, 8], 0), 1000) + index([64, 8], 1)" writes ["in"]
  tally.loop "A" trips "n" max 8 {
    tally.loop "for" trips = "2 + A" {
      tally.instr "load" on "load" computes "r0" reads ["in[A * 8 + \22for\22 mod 8, 0:8]"] writes ["x[total(\22for\22) mod 3, 0:8]"]
      tally.if "odd one" {
        tally.instr "double" on "double" computes "iadd(r0, r0)" reads ["x[total(\22for\22) mod 3, 0:8]"] writes ["y[total(\22for\22) mod 2, 0:8]"]
      } else {
        tally.instr "keep" on "work" computes "isub(r0, A)" reads ["x[total(\22for\22) mod 3, 0:8]"] writes ["y[total(\22for\22) mod 2, 0:8]"]
      }
      tally.instr "store" on "work" computes "r0" reads ["y[total(\22for\22) mod 2, 0:8]"] writes ["out[total(\22for\22) mod 64, 0:8]"]
    }
    tally.loop "while" while "more" {
      tally.instr "last" on "int" computes "A + r0" reads ["x[0, 0] if A < 3"] writes ["log[total(\22while\22) mod 40] if A < trips(A) - 1"]
    }
  }
}
