// RUN: tally deps %s --machine=teaching --keep-implied --quiet | FileCheck %s
// RUN: tally check %s --race --sync=per-loop --trips=n=1102 --machine=teaching --quiet | FileCheck %s --check-prefix=RACE
//
// Eight tiles that come again after 256, 2303, .. iterations do so together only after 1.57e25 of them: modulo 2^64, after 256.
// In iteration 1061, run 2123 of p is needed.
//
// CHECK: 'p' -> 'c' raw conservative
// RACE: verdict: yes

tally.kernel @k { tally.engine "d"
 tally.engine "a"
 tally.buffer "X" shape [2]
 tally.loop "A" trips "n" max 100000 {
  tally.loop "B" trips 2 {
   tally.instr "p" on "d" writes ["X[B]"]
  }
  tally.loop "C" trips 1 {
   tally.instr "c" on "a" reads ["X[A mod 256 floordiv 128]", "X[(A + 1202) mod 2303 floordiv 2302]", "X[(A + 1194) mod 2295 floordiv 2294]", "X[(A + 742) mod 1843 floordiv 1842]", "X[(A + 2746) mod 3847 floordiv 3846]", "X[(A + 800) mod 1901 floordiv 1900]", "X[(A + 260) mod 661 floordiv 660]", "X[(A + 200) mod 1301 floordiv 1300]"]
  }
 }
}
