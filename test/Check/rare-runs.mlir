// Two that conflict in few runs only are brought together on purpose: by the numbers in their guards and
// tiles, and through all branches that lead to them. `compile --certify` tries the same runs.
//
// RUN: bash -c 'tally check %s --race; test $? -eq 1' | FileCheck %s --check-prefix=RACE
// RUN: bash -c 'tally compile %s --certify -o /dev/null 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=CERTIFY

// RACE-LABEL: kernel 'last'
// RACE:       with --trips=A=1000
// RACE:       error: race: nothing makes 'r' (A = 999), which reads X[0], wait for 'w' (A = 998), which writes it
// CERTIFY:    the dependences that are written do not imply 'w' -> 'r' at 'A' = 1 {{.*}}, and the code races for that
tally.kernel @last {
  tally.engine "d"
  tally.engine "a"
  tally.buffer "X" shape [8]
  tally.loop "A" trips "n" max 1000 {
    tally.instr "w" on "d" writes ["X[0] if A == 998"]
    tally.instr "r" on "a" reads ["X[0] if A == 999"]
  }
  tally.dep "w" -> "w" at "A" = 1
}

// Numbers of trips: one that is named, and a residue.
// RACE-LABEL: kernel 'times'
// RACE:       with --trips=A=50 --trips=B=0
// RACE:       with --trips=A=0 --trips=B=7
// CERTIFY:    do not imply 'w' -> 'r' ('w' writes X[0] if trips(A) == 50;
// CERTIFY:    do not imply 'v' -> 'q' ('v' writes Y[0] if B == trips(B) - 1 and trips(B) mod 7 == 0;
tally.kernel @times {
  tally.engine "d"
  tally.engine "a"
  tally.buffer "X" shape [8]
  tally.buffer "Y" shape [8]
  tally.loop "A" trips "n" max 1000 {
    tally.instr "w" on "d" writes ["X[0] if trips(A) == 50"]
    tally.instr "r" on "a" reads ["X[0] if trips(A) > 47"]
  }
  tally.loop "B" trips "m" max 1000 {
    tally.instr "v" on "d" writes ["Y[0] if B == trips(B) - 1 and trips(B) mod 7 == 0"]
    tally.instr "q" on "a" reads ["Y[0] if B == trips(B) - 1"]
  }
  tally.dep "w" -> "w" at "A" = 1
  tally.dep "v" -> "v" at "B" = 1
}

// Several loops.
// RACE-LABEL: kernel 'nest'
// RACE:       with --trips=A=37 --trips=B=14
// CERTIFY:    do not imply 'w' -> 'r' at 'B' = 1
tally.kernel @nest {
  tally.engine "d"
  tally.engine "a"
  tally.buffer "X" shape [8]
  tally.loop "A" trips "n" max 1000 {
    tally.loop "B" trips "m" max 1000 {
      tally.instr "w" on "d" writes ["X[0] if A == 3*B and B == 12"]
      tally.instr "r" on "a" reads ["X[0] if A == 36 and B == 13"]
    }
  }
  tally.dep "w" -> "w" at "B" = 1
}

// No guard of the writer: its tile says where the two meet.
// RACE-LABEL: kernel 'apart'
// RACE:       with --trips=A=901 --trips=B=601
// CERTIFY:    do not imply 'w' -> 'r' element -300 ('w' writes X[A]; 'r' reads X[900] if total(B) == 600)
tally.kernel @apart {
  tally.engine "d"
  tally.engine "a"
  tally.buffer "X" shape [8000]
  tally.loop "A" trips "n" max 1000 {
    tally.instr "w" on "d" writes ["X[A]"]
  }
  tally.loop "B" trips "m" max 1000 {
    tally.instr "r" on "a" reads ["X[900] if total(B) == 600"]
  }
  tally.dep "r" -> "r" at "B" = 1
}

// Random decisions hardly ever take all of these at once, and that in two iterations.
// RACE-LABEL: kernel 'deep'
// RACE:       with --trips=A=2 --trips=c0=1
// RACE:       error: race: nothing makes 'w' (A = 1), which writes X[0:8], wait for 'r' (A = 0), which reads it
// CERTIFY:    do not imply 'r' -> 'w' at 'A' = 1
tally.kernel @deep {
  tally.engine "d"
  tally.engine "a"
  tally.buffer "X" shape [8]
  tally.loop "A" trips "n" max 1000 {
    tally.if "c0" { tally.if "c1" { tally.if "c2" { tally.if "c3" { tally.if "c4" {
      tally.if "c5" { tally.if "c6" { tally.if "c7" { tally.if "c8" { tally.if "c9" {
        tally.instr "w" on "d" writes ["X"]
      } } } } }
    } } } } }
    tally.if "d0" { tally.if "d1" { tally.if "d2" { tally.if "d3" { tally.if "d4" {
      tally.if "d5" { tally.if "d6" { tally.if "d7" { tally.if "d8" {} else { tally.if "d9" {} else {
        tally.instr "r" on "a" reads ["X"]
      } } } } }
    } } } } }
  }
  tally.dep "w" -> "w" at "A" = 1
  tally.dep "w" -> "r"
}
