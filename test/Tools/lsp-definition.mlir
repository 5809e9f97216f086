// From each use of a name to its declaration, and to all places that have it.
// RUN: %python %S/Inputs/lsp.py %s 'definition:on "^r"' 'definition:on "act^" reads' 'definition:alias ["^X' 'definition:writes ["^X' 'definition:"X[^A]' 'definition:$^n - 1 - A' 'definition:- 1 - ^A' 'definition:"$^n - 1"' 'definition:dep "load^"' 'definition:at "A^"' 'definition:code @^k' 'definition:program "act^"' 'definition:for "A^"' 'definition:branch "c^"' 'definition:= "r0^" + 1' 'definition:issue "use^"' 'definition:waits "s^"' 'definition:>= "r0^"' 'definition:shape^' 'definition:>= %^v' 'definition:= %0^ to' 'definition:yield %^sum' 'definition:, %^1#1' 'references:buffer "X^"' 'references:dma" queues ["q" weight 16, "r^"' 'references:@k^' 'symbols' | FileCheck %s
tally.kernel @other {
  tally.engine "act"
  tally.loop "A" trips 2 { tally.instr "use" on "act" }
}
tally.kernel @k attributes {a = "b"} {
  tally.engine "act"
  tally.engine "dma" queues ["q" weight 16, "r"]
  tally.buffer "X" shape [64]
  tally.buffer "Y" alias ["X"]
  tally.loop "A" trips = "$n" max 32 {
    tally.if "c" {
      tally.instr "load" on "r" writes ["X[A]"]
    }
    tally.instr "use" on "act" reads ["X[$n - 1 - A]"]
  }
  tally.loop "B" trips = "$n - 1" { }
  tally.dep "load" -> "use" at "A" = 1
}
tally.code @k {
  tally.semaphore "s"
  tally.program "act" {
    tally.register "r0"
    tally.for "A" {
      tally.branch "c" { }
      tally.set "r0" = "r0" + 1
      tally.issue "use" waits "s" >= "r0" for [0]
    }
  }
}
func.func @k_act() {
  %0 = tally.trips "A" : index
  %1:2 = scf.for %i = %0 to %0 step %0 iter_args(%sum = %0, %v = %0) -> (i32, i32) {
    tally.await "s" >= %v for [0] : i32
    scf.yield %sum, %1#1 : i32, i32
  }
}
// CHECK: --- definition:on "^r"
// CHECK-NEXT: 9:46 [r]
// CHECK: --- definition:on "act^" reads
// CHECK-NEXT: 8:17 [act]
// CHECK: --- definition:alias ["^X
// CHECK-NEXT: 10:17 [X]
// CHECK: --- definition:writes ["^X
// CHECK-NEXT: 10:17 [X]
// CHECK: --- definition:"X[^A]
// CHECK-NEXT: 12:15 [A]
// CHECK: --- definition:$^n - 1 - A
// CHECK-NEXT: 12:28 [n]
// CHECK: --- definition:- 1 - ^A
// CHECK-NEXT: 12:15 [A]
// CHECK: --- definition:"$^n - 1"
// CHECK-NEXT: 12:28 [n]
// CHECK: --- definition:dep "load^"
// CHECK-NEXT: 14:20 [load]
// CHECK: --- definition:at "A^"
// CHECK-NEXT: 12:15 [A]
// CHECK: --- definition:code @^k
// CHECK-NEXT: 7:15 [k]
// CHECK: --- definition:program "act^"
// CHECK-NEXT: 8:17 [act]
// CHECK: --- definition:for "A^"
// CHECK-NEXT: 12:15 [A]
// CHECK: --- definition:branch "c^"
// CHECK-NEXT: 13:15 [c]
// CHECK: --- definition:= "r0^" + 1
// CHECK-NEXT: 24:21 [r0]
// CHECK: --- definition:issue "use^"
// CHECK-NEXT: 16:18 [use]
// CHECK: --- definition:waits "s^"
// CHECK-NEXT: 22:20 [s]
// CHECK: --- definition:>= "r0^"
// CHECK-NEXT: 24:21 [r0]
// CHECK: --- definition:shape^
// CHECK-NEXT: nothing
// CHECK: --- definition:>= %^v
// CHECK-NEXT: 34:61 [%v]
// CHECK: --- definition:= %0^ to
// CHECK-NEXT: 33:3 [%0]
// CHECK: --- definition:yield %^sum
// CHECK-NEXT: 34:50 [%sum]
// CHECK: --- definition:, %^1#1
// CHECK-NEXT: 34:3 [%1]
// CHECK: --- references:buffer "X^"
// CHECK-NEXT: 10:17 [X]
// CHECK-NEXT: 11:28 [X]
// CHECK-NEXT: 14:42 [X]
// CHECK-NEXT: 16:40 [X]
// CHECK: --- references:dma" queues ["q" weight 16, "r^"
// CHECK-NEXT: 9:46 [r]
// CHECK-NEXT: 14:30 [r]
// CHECK: --- references:@k^
// CHECK-NEXT: 7:15 [k]
// CHECK-NEXT: 21:13 [k]
// CHECK: --- symbols
// CHECK-NEXT: kernel other 3:15 [other]
// CHECK-NEXT:   engine act 4:17 [act]
// CHECK-NEXT:   loop A 5:15 [A]
// CHECK-NEXT:     instr use 5:41 [use]
// CHECK-NEXT: kernel k 7:15 [k]
// CHECK-NEXT:   engine act 8:17 [act]
// CHECK-NEXT:   engine dma 9:17 [dma]
// CHECK-NEXT:     queue q 9:31 [q]
// CHECK-NEXT:     queue r 9:46 [r]
// CHECK-NEXT:   buffer X 10:17 [X]
// CHECK-NEXT:   buffer Y 11:17 [Y]
// CHECK-NEXT:   loop A 12:15 [A]
// CHECK-NEXT:     if c 13:15 [c]
// CHECK-NEXT:       instr load 14:20 [load]
// CHECK-NEXT:     instr use 16:18 [use]
// CHECK-NEXT:   loop B 18:15 [B]
// CHECK-NEXT: code k 21:13 [k]
// CHECK-NEXT:   semaphore s 22:20 [s]
// CHECK-NEXT:   program act 23:18 [act]
