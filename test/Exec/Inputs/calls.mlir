// Functions of the user's: with nested loops, a queue of its own, a value, a tile that is not always there, and
// next to an instruction that says what it computes.
tally.kernel @calls {
  tally.engine "load" queues ["send"]
  tally.engine "work"
  tally.buffer "x" shape [3, 8] type "f32"
  tally.buffer "y" shape [2, 8] type "i32"
  tally.buffer "sum" shape [8] type "f32"
  tally.instr "clear" on "work" computes "0" writes ["sum"]
  tally.loop "A" trips "n" max 100 {
    tally.loop "B" trips = "$m + 1" {
      tally.instr "fill" on "send" writes ["x[total(B) mod 3, 0:8]"]
      tally.instr "use" on "work" reads ["x[total(B) mod 3, 0:8]", "x[0, 0:8] if B == 0"] writes ["y[total(B) mod 2, 4:4]"] accumulates ["sum"]
    }
  }
  tally.instr "tell" on "load" reads ["sum"]
}
