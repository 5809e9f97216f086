// Where a rhythm goes on from one iteration of an outer loop to the next, a table goes over that loop.

// RUN: tally deps %s --machine=teaching | FileCheck %s --check-prefix=DEPS
// DEPS: kernel 'turns'
// DEPS: 'c' -> 'p' element [-1, -1, -1, -1, 0, 1, 2, 3, 7, 7, 7, 7, 10, 11, 11, 11] each 12 over 'A' war exact
// DEPS-NEXT: 'p' -> 'c' element [0, 1, 2, 3, 5, 6, 7, 7, 10, 11, 11, 11, 15, 15, 15, 15] each 15 over 'A' raw exact
// DEPS: kernel 'body'
// DEPS: 'c' -> 'p' element [-2, -1, 0, 2, 3, 4] each 6 over 'A' war exact
// DEPS-NEXT: 'p' -> 'c' element [0, 1, 2, 2, 3, 4] each 6 over 'A' raw exact
// DEPS: kernel 'deep'
// DEPS: 'c' -> 'p' element [-1, -1, 0, 1, 3, 3, 5, 5] each 6 over 'Z' war exact
// DEPS-NEXT: 'p' -> 'c' element [0, 1, 2, 3, 5, 5, 7, 7] each 7 over 'Z' raw exact
// DEPS: kernel 'served'
// DEPS: 'p' -> 'c' element 2 waw exact
// RUN: sed 's/"A" trips 4/"A" trips "n"/' %s | tally deps - --kernel=served --machine=teaching | FileCheck %s --check-prefix=SERVED
// SERVED: 'p' -> 'c' element 2 waw exact
// SERVED-NEXT: 'c' -> 'c' at 'A' = 1 waw exact

// Right and exact, in all orders.
// RUN: tally check %s --sync=per-loop --explore --race --machine=teaching --trips n=3 | FileCheck %s --check-prefix=RIGHT
// RIGHT-COUNT-4: explore: yes: exact: waits as long as its dependences ask
// RUN: tally check %s --sync=unrolled --kernel=turns --explore --machine=teaching | FileCheck %s --check-prefix=UNROLLED
// UNROLLED: explore: yes: exact

// A wait that does not follow its table is for all that the table may ask for, at least.
// RUN: tally check %s --sync=auto --explore --race --machine=teaching --trips n=3 | FileCheck %s --check-prefix=LONGER
// RUN: tally check %s --sync=per-engine --explore --race --machine=teaching --trips n=3 | FileCheck %s --check-prefix=LONGER
// LONGER-COUNT-4: explore: yes

// Rounds are counted by the number of the run in the nest.
// RUN: tally compile %s --kernel=body --machine=teaching --sync=per-loop -o - 2>&1 | FileCheck %s --check-prefix=CODE --implicit-check-not=longer
// CODE: role "rounds(B over A, 6 from

// The list says over which loop, as JSON, too. Nothing gets longer if what is implied is kept.
// RUN: tally deps %s --kernel=turns --machine=teaching --format=json | FileCheck %s --check-prefix=LIST
// LIST: "over": "A"
// RUN: tally deps %s --kernel=turns --machine=teaching --keep-implied | FileCheck %s --check-prefix=KEPT --implicit-check-not=conservative
// KEPT: over 'A'

// The same from its text, JSON and bytecode.
// RUN: tally compile %s --kernel=turns --machine=teaching --sync=per-loop -o %t.mlir
// RUN: FileCheck %s --check-prefix=TEXT < %t.mlir
// TEXT: tally.dep "p" -> "c" raw element [
// TEXT-SAME: each 15 over "A"
// RUN: tally-opt %t.mlir -emit-bytecode | tally-opt | FileCheck %s --check-prefix=TEXT
// RUN: tally compile %t.mlir --machine=teaching --sync=per-loop --format=json -o %t.json
// RUN: FileCheck %s --check-prefix=JSON < %t.json
// JSON: "element": {"runs": [{{.*}}], "each": 15, "over": "A"}
// RUN: tally check %t.json --machine=teaching | FileCheck %s --check-prefix=VERDICT
// VERDICT: verdict: yes

// Each turn of the ring begins elsewhere.
tally.kernel @turns {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [4]
  tally.loop "A" trips 4 {
    tally.loop "B" trips 4 {
      tally.instr "p" on "dma" writes ["X[B]"]
    }
    tally.loop "C" trips 4 {
      tally.instr "c" on "act" reads ["X[(C + A) mod 4]"]
    }
  }
}

// One body, in which one of them goes through the ring as the outer loop does, too.
tally.kernel @body {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [2]
  tally.loop "A" trips "n" max 8 {
    tally.loop "B" trips 3 {
      tally.instr "p" on "dma" writes ["X[B mod 2]"]
      tally.instr "c" on "act" reads ["X[(A + B) mod 2]"]
    }
  }
}

// Three loops, of which the outermost turns the ring.
tally.kernel @deep {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [2]
  tally.loop "Z" trips 2 {
    tally.loop "A" trips 2 {
      tally.loop "B" trips 2 {
        tally.instr "p" on "dma" writes ["X[(Z + B) mod 2]"]
      }
      tally.loop "C" trips 2 {
        tally.instr "c" on "act" reads ["X[C]"]
      }
    }
  }
}

// Only the last run in each iteration needs p; so c also waits for its own runs in the iteration before.
tally.kernel @served {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [3]
  tally.loop "A" trips 4 {
    tally.instr "p" on "dma" writes ["X[2]"]
    tally.loop "B" trips 3 {
      tally.instr "c" on "act" writes ["X[B]"]
    }
  }
}
