// RUN: tally deps %s --machine=teaching --keep-implied --quiet | FileCheck %s --implicit-check-not=conservative
//
// Trips and values that are constant though a name or a formula stands for them, and guards that always hold: by themselves,
// together, as sides that grow together, and because a loop ends there.
//
// CHECK: kernel 'bounds'
// CHECK: 'c' -> 'p' element {{.*}} each 12 over 'A' war exact
// CHECK: kernel 'guards'
// CHECK: 'p' -> 'c' element [0, 1, 1, 2, 3, 3] each 6 raw exact
// CHECK: kernel 'together'
// CHECK: 'p' -> 'c' element [0, 1, 1, 2, 3, 3] each 6 raw exact
// CHECK: kernel 'grow'
// CHECK: 'p' -> 'c' element [{{.*}}] each 6 raw exact
// CHECK: kernel 'named'
// CHECK: 'p' -> 'c' element [{{.*}}] each 5 over 'B' raw exact
// CHECK: kernel 'shifted'
// CHECK: 'p' -> 'c' element [{{.*}}] each 6 raw exact

tally.kernel @bounds { tally.engine "d"
 tally.engine "a"
 tally.buffer "X" shape [8]
 tally.loop "A" trips = "$n" {
  tally.loop "B" trips "two" min 2 max 2 {
   tally.instr "p" on "d" writes ["X[total(B) mod 3] if A < $n"]
  }
  tally.loop "C" trips = "2" {
   tally.instr "c" on "a" reads ["X[total(C) mod 4]"]
  }
 }
}
tally.kernel @guards { tally.engine "d"
 tally.engine "a"
 tally.buffer "X" shape [8]
 tally.loop "A" trips "n" {
  tally.instr "p" on "d" writes ["X[A mod 2] if A >= 0"]
  tally.instr "c" on "a" reads ["X[A mod 3] if A != 0 - 1"]
 }
}
tally.kernel @together { tally.engine "d"
 tally.engine "a"
 tally.buffer "X" shape [8]
 tally.loop "A" trips "n" {
  tally.instr "p" on "d" writes ["X[A mod 2] if A + 1 > 0 and A < 2 * A + 1"]
  tally.instr "c" on "a" reads ["X[A mod 3]"]
 }
}
tally.kernel @grow { tally.engine "d"
 tally.engine "a"
 tally.buffer "X" shape [8]
 tally.loop "A" trips "n" {
  tally.instr "p" on "d" writes ["X[A mod 2]"]
  tally.instr "c" on "a" reads ["X[A mod 3] if A == 3 * (A floordiv 3) + 1"]
 }
}
tally.kernel @named { tally.engine "d"
 tally.engine "a"
 tally.buffer "X" shape [1]
 tally.loop "B" trips = "$m" min 5 max 5 {
  tally.instr "p" on "d" writes ["X[0] if B == $m - 1"]
  tally.loop "C" trips 4 {
   tally.instr "c" on "a" reads ["X[0]"]
  }
 }
}
tally.kernel @shifted { tally.engine "d"
 tally.engine "a"
 tally.buffer "X" shape [8]
 tally.loop "B" trips = "$m" min 5 max 5 {
  tally.instr "q" on "d" writes ["X[7]"]
 }
 tally.loop "A" trips "n" {
  tally.instr "p" on "d" writes ["X[(A + 3 * $m) mod 2]"]
  tally.instr "c" on "a" reads ["X[(A + $m) mod 3]"]
 }
}
