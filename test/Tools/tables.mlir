// Distances that change from run to run, but in a rhythm: a table says which run each run needs.

// RUN: tally deps %s --machine=teaching | FileCheck %s --check-prefix=DEPS
// DEPS: kernel 'guarded'
// DEPS-NEXT: 'p' -> 'c' element [0, 1, 2, 2, 2, 2, 2, 2] each 2 raw exact
// DEPS: kernel 'rings'
// DEPS: 'c' -> 'p' element [-2, -2, 0, 1, 3, 4] each 6 war exact
// DEPS-NEXT: 'p' -> 'c' element [0, 1, 1, 2, 3, 3] each 6 raw exact
// DEPS: kernel 'ratio'
// DEPS-NEXT: 'p' -> 'c' element [-1, 0] each 1 raw exact
// DEPS: kernel 'mirror'
// DEPS-NEXT: 'c' -> 'p' element [-1, -1, -1, -1, 3, 3, 3, 3] each 4 war exact
// DEPS-NEXT: 'p' -> 'c' element [-1, -1, -1, -1, 3, 3, 3, 3] each 4 raw exact
// DEPS: kernel 'ahead'
// DEPS-NEXT: 'p' -> 'c' element [-1, -1, -1, 1, 3, 5] each 6 raw exact
// DEPS: kernel 'parts'
// DEPS: 'c' -> 'p' element [3] each 4 at 'O' = 1 war exact
// DEPS-NEXT: 'p' -> 'c' element [0, 0, 0, 0] each 1 raw exact

// A distance on the loop around both stays.
// RUN: tally deps %S/Inputs/table-of-last-iteration.mlir --machine=teaching | FileCheck %s --check-prefix=LAST
// LAST: 'p' -> 'c' element [1] each 2 at 'L0' = 1 raw exact

// Right and exact, in all orders. Where a step comes often, its rounds are counted.
// RUN: tally check %s --sync=per-loop --explore --race --trips n=7 --machine=teaching | FileCheck %s --check-prefix=RIGHT
// Under 'auto', two of them wait longer: their tables would take more control, and save nothing.
// RUN: tally check %s --sync=auto --explore --race --trips n=3 --machine=teaching | FileCheck %s --check-prefix=CHOSEN
// CHOSEN-COUNT-4: explore: yes: exact: waits as long as its dependences ask
// RIGHT-COUNT-6: explore: yes: exact: waits as long as its dependences ask
// RUN: tally check %s --sync=unrolled --kernel=mirror --explore --machine=teaching | FileCheck %s --check-prefix=UNROLLED
// UNROLLED: explore: yes: exact
// RUN: tally compile %s --machine=teaching --sync=per-loop -o - 2>&1 | FileCheck %s --check-prefix=CODE --implicit-check-not=longer
// CODE: role "rounds(B, 2 from 1)"
// CODE-NEXT: role "next of rounds(B, 2 from 1)"
// CODE-NEXT: role "trip(B)"
// CODE: tally.set "[[NEXT:r[0-9]+]]" = 1
// CODE: tally.for "B"
// CODE: tally.set "[[IS:r[0-9]+]]" = "[[TRIP:r[0-9]+]]" gt "[[NEXT]]"
// CODE-NEXT: tally.set "[[BEGUN:r[0-9]+]]" = "[[BEGUN]]" + "[[IS]]"
// CODE-NEXT: tally.set "[[IS]]" = "[[IS]]" * 2
// CODE-NEXT: tally.set "[[NEXT]]" = "[[NEXT]]" + "[[IS]]"

// Explained, in the numbers of a run.
// RUN: tally explain %s --kernel=parts --instr=c --machine=teaching --trips=n=2 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// EXPLAIN: of every 4 runs of this instruction, each needs the run of 'p' that stands in the table [0, 0, 0, 0] each 1; the next ones need 1 more
// EXPLAIN: threshold snapshot(O, 1, total(B)) + (rounds(C, 4 from 4) + 1)

// The same when it is written out, and from JSON and bytecode.
// RUN: tally compile %s --kernel=parts --machine=teaching --sync=per-loop -o %t.mlir
// RUN: FileCheck %s --check-prefix=TEXT < %t.mlir
// TEXT: tally.dep "c" -> "p" war element [3] each 4 at "O" = 1
// TEXT: tally.dep "p" -> "c" raw element [0, 0, 0, 0] each 1
// RUN: tally-opt %t.mlir -emit-bytecode | tally-opt | FileCheck %s --check-prefix=TEXT
// RUN: tally compile %t.mlir --machine=teaching --sync=per-loop --format=json -o %t.json
// RUN: FileCheck %s --check-prefix=JSON < %t.json
// JSON: "element": {"runs": [3], "each": 4}, "distance": {"O": 1}
// RUN: tally check %t.mlir --machine=teaching --trips=n=3 | FileCheck %s --check-prefix=VERDICT
// VERDICT: verdict: yes
// RUN: tally deps %s --kernel=parts --machine=teaching --format=json | FileCheck %s --check-prefix=FOUND
// FOUND: "runs": [

// Code that ignores a table is wrong from its first step on, which trips are chosen to show.
// RUN: not tally check %S/Inputs/table-ignored.mlir 2>&1 | FileCheck %s --check-prefix=IGNORED
// IGNORED: verdict: no

// Certificates know no tables: at least the shortest distance that there is.
// RUN: tally compile %s --kernel=ratio --certify --machine=teaching -o %t.mlir 2>&1 | FileCheck %s --check-prefix=PROOF
// PROOF: certified: 'ratio'

// Barriers and whole queues wait for more.
// RUN: tally check %s --sync=barrier --machine=teaching | FileCheck %s --check-prefix=YES
// RUN: tally check %s --sync=per-engine --machine=teaching | FileCheck %s --check-prefix=YES
// YES-COUNT-6: verdict: yes

tally.kernel @guarded {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [16]
  tally.loop "A" trips "n" max 9 {
    tally.instr "p" on "dma" writes ["X[A] if A < 3"]
    tally.instr "c" on "act" reads ["X[A]"]
  }
}

tally.kernel @rings {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [3]
  tally.loop "A" trips "n" max 40 {
    tally.instr "p" on "dma" writes ["X[A mod 2]"]
    tally.instr "c" on "act" reads ["X[A mod 3]"]
  }
}

tally.kernel @ratio {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [32]
  tally.loop "B" trips 9 {
    tally.instr "p" on "dma" writes ["X[2*B + 1]"]
    tally.instr "c" on "act" reads ["X[B]"]
  }
}

tally.kernel @mirror {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [8]
  tally.loop "A" trips 8 {
    tally.instr "p" on "dma" writes ["X[7 - A]"]
    tally.instr "c" on "act" reads ["X[A]"]
  }
}

// A period of one would lead beyond the run itself, if there were more trips.
tally.kernel @ahead {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [16]
  tally.loop "B" trips 6 {
    tally.instr "p" on "dma" writes ["X[B + 5]"]
    tally.instr "c" on "act" reads ["X[2*B]"]
  }
}

tally.kernel @parts {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [16]
  tally.loop "O" trips "n" max 8 {
    tally.loop "B" trips 4 {
      tally.instr "p" on "dma" writes ["X[4*B:4]"]
    }
    tally.loop "C" trips 16 {
      tally.instr "c" on "act" reads ["X[C]"]
    }
  }
}
