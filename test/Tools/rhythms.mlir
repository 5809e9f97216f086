// RUN: tally deps %s --machine=teaching --keep-implied --quiet | FileCheck %s --implicit-check-not=conservative
//
// Nine pairs of tiles of two instructions, which come again after 60 iterations at most; a loop whose trips are a value; trips of a
// loop in a tile; tiles of strides.
//
// CHECK: kernel 'nine'
// CHECK: 'p' -> 'c' element {{.*}} each 60 {{.*}} exact
// CHECK: kernel 'value'
// CHECK: 'p' -> 'c' element {{.*}} exact
// CHECK: kernel 'strided'
// CHECK: 'i1' -> 'i3' element {{.*}} exact

tally.kernel @nine { tally.engine "d"
 tally.engine "a"
 tally.buffer "X" shape [8]
 tally.loop "A" trips "n" {
  tally.instr "c" on "a" reads ["X[A mod 3]", "X[(A + 1) mod 4]", "X[(A + 2) mod 5]"]
  tally.instr "p" on "d" writes ["X[A mod 2]", "X[A mod 3 + 2]", "X[2*A mod 4]"]
 }
}
tally.kernel @value { tally.engine "e0"
 tally.engine "e1"
 tally.buffer "X" shape [7]
 tally.loop "A" trips = "$n" {
  tally.loop "B" trips 2 {
   tally.instr "p" on "e1" writes ["X[total(B) mod 7]"]
   tally.loop "C" trips 3 {
    tally.instr "c" on "e0" reads ["X[(A + C + 2) mod 4]"]
   }
  }
 }
}
tally.kernel @strided {
  tally.engine "e0"
  tally.engine "e1"
  tally.buffer "X" shape [9, 10]
  tally.loop "L1" trips "n1" max 1000 {
    tally.loop "L2" trips 2 {
      tally.instr "i1" on "e1" writes ["X[(((L2 - total(L2)) + -1*L1) mod 7):2, (L2 + 5)]", "X[((((5*L2 - 2) + -1*total(L2)) mod 3) mod 2):3, ((2*total(L2) + -7*L2) mod 7)]"]
      tally.loop "L3" trips 3 {
        tally.instr "i2" on "e0" reads ["X[(100*L3 mod 7), 2*((2*L3 + L2) mod 3):3:2]"]
        tally.instr "i3" on "e0" reads ["X[(((((L1 - L3) + 1) + trips(L2)) mod 6) mod 4), ((((L1 + 5*L2) + 0) - 5*L3) mod 2)]"]
      }
    }
  }
}
