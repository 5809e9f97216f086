// RUN: tally-opt %s --split-input-file --tally-to-scf | FileCheck %s

// Where code ends with an instruction, the function that holds it is read again.

// RUN: tally compile %source_dir/kernels/pipeline.mlir --format=scf --quiet -o %t.scf.mlir
// RUN: tally-opt %t.scf.mlir -o %t.again.mlir
// RUN: tally-opt %t.again.mlir | diff %t.again.mlir -

// Registers become values: the one that the next iteration needs is carried, the one that is
// computed anew is not. The trip count is asked for each time the loop is reached.

tally.kernel @k {
  tally.engine "act"
  tally.engine "dma"
  tally.loop "A" trips "n" {
    tally.instr "load" on "dma"
    tally.instr "scale" on "act"
  }
  tally.dep "load" -> "scale"
}
// CHECK-NOT: tally.code
tally.code @k machine "trn2" {
  tally.semaphore "s"
  tally.program "act" {
    tally.register "r0"
    tally.register "r1"
    tally.set "r0" = 0
    tally.for "A" {
      tally.set "r0" = "r0" + 1
      tally.set "r1" = "r0" - 2
      tally.issue "scale" waits "s" >= "r1" for [0]
    }
  }
  tally.program "dma" {
    tally.for "A" {
      tally.issue "load" signals "s" by 16
    }
  }
}

// CHECK-LABEL: func.func @k_act()
// CHECK:       %[[N:.*]] = tally.trips "A" : index
// CHECK:       scf.for %{{.*}} = %{{.*}} to %[[N]] step %{{.*}} iter_args(%[[R0:.*]] = %{{.*}}) -> (i32) {
// CHECK:         %[[R1:.*]] = arith.addi %[[R0]], %{{.*}} : i32
// On a machine whose subtraction wraps, it is one operation.
// CHECK:         %[[W:.*]] = arith.subi %[[R1]], %{{.*}} : i32
// CHECK-NEXT:    tally.run "scale" waits "s" >= %[[W]] for [0]
// CHECK-NEXT:    scf.yield %[[R1]] : i32

// CHECK-LABEL: func.func @k_dma()
// CHECK:       scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{[^ ]*}} {
// CHECK-NEXT:    tally.run "load" signals "s" by 16
// CHECK-NEXT:  }

// -----

// A saturating subtraction is a comparison and a choice; the comparison of a mask is
// unsigned; a constant trip count is a constant.

tally.kernel @saturating {
  tally.engine "e"
  tally.loop "A" trips 7 {
    tally.instr "i" on "e"
  }
}
tally.code @saturating machine "generic" {
  tally.semaphore "s"
  tally.program "e" {
    tally.register "i"
    tally.register "a"
    tally.register "b"
    tally.for "A" counter "i" {
      tally.set "a" = "i" - 2
      tally.set "b" = "i" gt 2
      tally.set "a" = "a" * "b"
      tally.set "a" = "a" min 9
      tally.wait "s" >= "a"
      tally.issue "i"
    }
  }
}

// CHECK-LABEL: func.func @saturating_e()
// CHECK-DAG:   %[[ONE:.*]] = arith.constant 1 : index
// CHECK-DAG:   %[[SEVEN:.*]] = arith.constant 7 : index
// CHECK:       scf.for %[[IV:.*]] = %{{.*}} to %[[SEVEN]] step %[[ONE]] {
// CHECK-NEXT:    %[[NEXT:.*]] = arith.addi %[[IV]], %[[ONE]] : index
// CHECK-NEXT:    %[[I:.*]] = arith.index_cast %[[NEXT]] : index to i32
// CHECK:         %[[D:.*]] = arith.subi %[[I]], %[[TWO:.*]] : i32
// CHECK:         %[[BELOW:.*]] = arith.cmpi ugt, %[[TWO]], %[[I]] : i32
// CHECK:         %[[A:.*]] = arith.select %[[BELOW]], %{{.*}}, %[[D]] : i32
// CHECK:         %[[GT:.*]] = arith.cmpi ugt, %[[I]], %{{.*}} : i32
// CHECK:         %[[B:.*]] = arith.extui %[[GT]] : i1 to i32
// CHECK:         %[[P:.*]] = arith.muli %[[A]], %[[B]] : i32
// CHECK:         %[[M:.*]] = arith.minui %[[P]], %{{.*}} : i32
// CHECK:         tally.await "s" >= %[[M]] : i32
// CHECK-NEXT:    tally.run "i"

// -----

// What a branch may write and somebody reads later is a result of the if; what a loop may write,
// of the loop. A while-loop asks before each iteration, and its native counter is carried.

tally.kernel @control {
  tally.engine "e"
  tally.loop "A" trips "n" {
    tally.if "c" {
      tally.instr "p" on "e"
    }
  }
  tally.loop "W" while "more" {
    tally.instr "w" on "e"
  }
}
tally.code @control {
  tally.semaphore "s"
  tally.program "e" {
    tally.register "count"
    tally.register "i"
    tally.register "unread"
    tally.for "A" {
      tally.set "unread" = 3
      tally.branch "c" {
        tally.set "count" = "count" + 1
        tally.issue "p"
      }
    }
    tally.wait "s" >= "count"
    tally.for "W" counter "i" {
      tally.issue "w" waits "s" >= "i"
    }
    tally.signal "s" by 2
    tally.barrier ["e"] {
      tally.drain
      tally.reset "s" count 1
    }
  }
}

// CHECK-LABEL: func.func @control_e()
// CHECK:       %[[COUNT:.*]] = scf.for {{.*}} iter_args(%[[C:.*]] = %{{.*}}) -> (i32) {
// CHECK:         %[[G:.*]] = tally.guard "c" : i1
// CHECK-NEXT:    %[[R:.*]] = scf.if %[[G]] -> (i32) {
// CHECK:           %[[S:.*]] = arith.addi %[[C]], %{{.*}} : i32
// CHECK-NEXT:      tally.run "p"
// CHECK-NEXT:      scf.yield %[[S]] : i32
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %[[C]] : i32
// CHECK-NEXT:    }
// CHECK-NEXT:    scf.yield %[[R]] : i32
// CHECK-NEXT:  }
// CHECK-NEXT:  tally.await "s" >= %[[COUNT]] : i32
// CHECK:       scf.while (%[[BEFORE:.*]] = %{{.*}}) : (i32) -> i32 {
// CHECK-NEXT:    %[[MORE:.*]] = tally.guard "W" : i1
// CHECK-NEXT:    scf.condition(%[[MORE]]) %[[BEFORE]] : i32
// CHECK-NEXT:  } do {
// CHECK-NEXT:  ^bb0(%[[I:.*]]: i32):
// CHECK:         %[[NEXT:.*]] = arith.addi %[[I]], %{{.*}} : i32
// CHECK-NEXT:    tally.run "w" waits "s" >= %[[NEXT]]
// CHECK-NEXT:    scf.yield %[[NEXT]] : i32
// CHECK-NEXT:  }
// CHECK-NEXT:  tally.signal "s" by 2
// CHECK-NEXT:  tally.drain
// CHECK-NEXT:  tally.reset "s"
// CHECK-NEXT:  return
