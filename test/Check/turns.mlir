// RUN: not tally check %s --race | FileCheck %s
// RUN: not tally check %s --race --format=json | FileCheck %s --check-prefix=JSON

// Code that is right up to a number in it is run beyond that number.

// CHECK-LABEL: kernel 'capped'
// CHECK: error: race: nothing makes 'r' (A = 20), which reads X[20], wait for 'w' (A = 20), which writes it
// CHECK: tried: trips of 'A' up to 22
tally.kernel @capped {
  tally.engine "e0"
  tally.engine "e1"
  tally.buffer "X" shape [3000]
  tally.loop "A" trips "n" max 3000 {
    tally.instr "w" on "e0" writes ["X[A]"]
    tally.instr "r" on "e1" reads ["X[A]"]
  }
}

tally.code @capped {
  tally.semaphore "s"
  tally.program "e0" {
    tally.for "A" {
      tally.issue "w" signals "s"
    }
  }
  tally.program "e1" {
    tally.register "t"
    tally.register "u"
    tally.for "A" counter "t" {
      tally.set "u" = "t" min 20
      tally.issue "r" waits "s" >= "u"
    }
  }
}

// The number may be in a register, and each iteration may count more than once.

// CHECK-LABEL: kernel 'in_register'
// CHECK: error: race: nothing makes 'r' (A = 300), which reads X[300], wait for 'w' (A = 300), which writes it
// CHECK: tried: trips of 'A' up to 302
tally.kernel @in_register {
  tally.engine "e0"
  tally.engine "e1"
  tally.buffer "X" shape [3000]
  tally.loop "A" trips "n" max 3000 {
    tally.instr "w" on "e0" writes ["X[A]"]
    tally.instr "r" on "e1" reads ["X[A]"]
  }
}

tally.code @in_register {
  tally.semaphore "s"
  tally.program "e0" {
    tally.for "A" {
      tally.issue "w" signals "s" by 64
    }
  }
  tally.program "e1" {
    tally.register "t"
    tally.register "u"
    tally.register "most"
    tally.set "most" = 19200
    tally.set "t" = 0
    tally.for "A" {
      tally.set "t" = "t" + 64
      tally.set "u" = "t" min "most"
      tally.issue "r" waits "s" >= "u"
    }
  }
}

// No run of ours is so long: that is no yes.

// CHECK-LABEL: kernel 'far'
// CHECK: race: could not decide: nothing wrong was seen; but "t" on 'e1' never passed 100000, from where "u" is another
// CHECK: tried: trips of 'A' up to 9
// JSON: "kernel": "far"
// JSON: "never_passed": [
// JSON-NEXT: "\"t\" on 'e1' never passed 100000, from where \"u\" is another"
// JSON: "tried": {
// JSON-NEXT: "trips": [
// JSON-NEXT: {
// JSON-NEXT: "loop": "A",
// JSON-NEXT: "trips": 9
// JSON-NEXT: }
// JSON-NEXT: ],
// JSON-NEXT: "values": [],
// JSON-NEXT: "branches": 0,
// JSON-NEXT: "decisions": 0
tally.kernel @far {
  tally.engine "e0"
  tally.engine "e1"
  tally.buffer "X" shape [300000]
  tally.loop "A" trips "n" max 300000 {
    tally.instr "w" on "e0" writes ["X[A]"]
    tally.instr "r" on "e1" reads ["X[A]"]
  }
}

tally.code @far {
  tally.semaphore "s"
  tally.program "e0" {
    tally.for "A" {
      tally.issue "w" signals "s"
    }
  }
  tally.program "e1" {
    tally.register "t"
    tally.register "u"
    tally.for "A" counter "t" {
      tally.set "u" = "t" min 100000
      tally.issue "r" waits "s" >= "u"
    }
  }
}

// The loop never runs so often.

// CHECK-LABEL: kernel 'never_there'
// CHECK: race: yes
tally.kernel @never_there {
  tally.engine "e0"
  tally.engine "e1"
  tally.buffer "X" shape [3000]
  tally.loop "A" trips "n" max 3000 {
    tally.instr "w" on "e0" writes ["X[A]"]
    tally.instr "r" on "e1" reads ["X[A]"]
  }
}

tally.code @never_there {
  tally.semaphore "s"
  tally.program "e0" {
    tally.for "A" {
      tally.issue "w" signals "s"
    }
  }
  tally.program "e1" {
    tally.register "t"
    tally.register "u"
    tally.for "A" counter "t" {
      tally.set "u" = "t" min 100000
      tally.issue "r" waits "s" >= "u"
    }
  }
}

// 'w' waits for nothing if no branch is taken.

// CHECK-LABEL: kernel 'none_taken'
// CHECK: error: race: nothing makes 'w', which writes X[0], wait for 'r', which reads it
// CHECK: tried: 30 of 128 decisions
tally.kernel @none_taken {
  tally.engine "e0"
  tally.engine "e1"
  tally.buffer "X" shape [9]
  tally.if "c0" {
    tally.instr "n0" on "e0"
  }
  tally.if "c1" {
    tally.instr "n1" on "e0"
  }
  tally.if "c2" {
    tally.instr "n2" on "e0"
  }
  tally.if "c3" {
    tally.instr "n3" on "e0"
  }
  tally.if "c4" {
    tally.instr "n4" on "e0"
  }
  tally.if "c5" {
    tally.instr "n5" on "e0"
  }
  tally.if "c6" {
    tally.instr "n6" on "e0"
  }
  tally.instr "r" on "e1" reads ["X[0]"]
  tally.instr "w" on "e0" writes ["X[0]"]
}

tally.code @none_taken {
  tally.semaphore "s"
  tally.program "e0" {
    tally.register "f"
    tally.set "f" = 0
    tally.branch "c0" {
      tally.issue "n0"
      tally.set "f" = 1
    }
    tally.branch "c1" {
      tally.issue "n1"
      tally.set "f" = 1
    }
    tally.branch "c2" {
      tally.issue "n2"
      tally.set "f" = 1
    }
    tally.branch "c3" {
      tally.issue "n3"
      tally.set "f" = 1
    }
    tally.branch "c4" {
      tally.issue "n4"
      tally.set "f" = 1
    }
    tally.branch "c5" {
      tally.issue "n5"
      tally.set "f" = 1
    }
    tally.branch "c6" {
      tally.issue "n6"
      tally.set "f" = 1
    }
    tally.issue "w" waits "s" >= "f"
  }
  tally.program "e1" {
    tally.issue "r" signals "s"
  }
}

// A threshold that falls behind what is raised, by one in each iteration, is too little in the sixteenth.

// CHECK-LABEL: kernel 'drifting'
// CHECK: error: race: nothing makes 'r' (A = 15), which reads X[15], wait for 'w' (A = 15), which writes it
tally.kernel @drifting {
  tally.engine "e0"
  tally.engine "e1"
  tally.buffer "X" shape [3000]
  tally.loop "A" trips "n" max 3000 {
    tally.instr "w" on "e0" writes ["X[A]"]
    tally.instr "r" on "e1" reads ["X[A]"]
  }
}

tally.code @drifting {
  tally.semaphore "s"
  tally.program "e0" {
    tally.for "A" {
      tally.issue "w" signals "s" by 16
    }
  }
  tally.program "e1" {
    tally.register "t"
    tally.register "u"
    tally.for "A" counter "t" {
      tally.set "u" = 15 * "t"
      tally.issue "r" waits "s" >= "u"
    }
  }
}

// A counter may fall to the number, which may be computed.

// CHECK-LABEL: kernel 'falling'
// CHECK: error: race: nothing makes 'r' (A = 119), which reads X[119], wait for 'w' (A = 119), which writes it
tally.kernel @falling {
  tally.engine "e0"
  tally.engine "e1"
  tally.buffer "X" shape [3000]
  tally.loop "A" trips "n" max 3000 {
    tally.instr "w" on "e0" writes ["X[A]"]
    tally.instr "r" on "e1" reads ["X[A]"]
  }
}

tally.code @falling {
  tally.semaphore "s"
  tally.program "e0" {
    tally.for "A" {
      tally.issue "w" signals "s"
    }
  }
  tally.program "e1" {
    tally.register "t"
    tally.register "left"
    tally.register "last"
    tally.set "left" = 60 + 60
    tally.for "A" counter "t" {
      tally.set "left" = "left" - 1
      tally.set "last" = 1 gt "left"
      tally.set "last" = "t" - "last"
      tally.issue "r" waits "s" >= "last"
    }
  }
}

// A cap may have begun again at 0 before the loop: it is 500.

// CHECK-LABEL: kernel 'wrapped_cap'
// CHECK: error: race: nothing makes 'r' (A = 500), which reads X[500], wait for 'w' (A = 500), which writes it
// CHECK: tried: trips of 'A' up to 502
tally.kernel @wrapped_cap {
  tally.engine "e0"
  tally.engine "e1"
  tally.buffer "X" shape [3000]
  tally.loop "A" trips "n" max 3000 {
    tally.instr "w" on "e0" writes ["X[A]"]
    tally.instr "r" on "e1" reads ["X[A]"]
  }
}

tally.code @wrapped_cap {
  tally.semaphore "s"
  tally.program "e0" {
    tally.for "A" {
      tally.issue "w" signals "s"
    }
  }
  tally.program "e1" {
    tally.register "t"
    tally.register "cap"
    tally.register "u"
    tally.set "cap" = 4294967295
    tally.set "cap" = "cap" + 501
    tally.for "A" counter "t" {
      tally.set "u" = "t" min "cap"
      tally.issue "r" waits "s" >= "u"
    }
  }
}

// The smaller of two that stay as far apart goes on like both, up to the next number.

// CHECK-LABEL: kernel 'smaller_first'
// CHECK: error: race: nothing makes 'r' (A = 40), which reads X[40], wait for 'w' (A = 40), which writes it
tally.kernel @smaller_first {
  tally.engine "e0"
  tally.engine "e1"
  tally.buffer "X" shape [3000]
  tally.loop "A" trips "n" max 3000 {
    tally.instr "w" on "e0" writes ["X[A]"]
    tally.instr "r" on "e1" reads ["X[A]"]
  }
}

tally.code @smaller_first {
  tally.semaphore "s"
  tally.program "e0" {
    tally.for "A" {
      tally.issue "w" signals "s"
    }
  }
  tally.program "e1" {
    tally.register "t"
    tally.register "next"
    tally.register "u"
    tally.for "A" {
      tally.set "t" = "t" + 1
      tally.set "next" = "t" + 1
      tally.set "u" = "t" min "next"
      tally.set "u" = "u" min 40
      tally.issue "r" waits "s" >= "u"
    }
  }
}

// It may begin again in the loop, and again: the first time is harmless, and the fault is far away.

// CHECK-LABEL: kernel 'wrapping_cap'
// CHECK: could not decide: nothing wrong was seen; but "u" on 'e1' is made of several comparisons, or counted in no regular way, or begins again at 0
tally.kernel @wrapping_cap {
  tally.engine "e0"
  tally.engine "e1"
  tally.buffer "X" shape [3000]
  tally.loop "A" trips "n" max 3000 {
    tally.instr "w" on "e0" writes ["X[A]"]
    tally.instr "r" on "e1" reads ["X[A]"]
  }
}

tally.code @wrapping_cap {
  tally.semaphore "s"
  tally.program "e0" {
    tally.for "A" {
      tally.issue "w" signals "s"
    }
  }
  tally.program "e1" {
    tally.register "t"
    tally.register "cap"
    tally.register "u"
    tally.for "A" {
      tally.set "t" = "t" + 1
      tally.set "cap" = "t" * 8581353
      tally.set "u" = "t" min "cap"
      tally.issue "r" waits "s" >= "u"
    }
  }
}

// What two comparisons decide together may be so in one run of many.

// CHECK-LABEL: kernel 'together'
// CHECK: could not decide: nothing wrong was seen; but "both" on 'e1' is made of several comparisons, or counted in no regular way
tally.kernel @together {
  tally.engine "e0"
  tally.engine "e1"
  tally.buffer "X" shape [3000]
  tally.buffer "Y"
  tally.loop "B" trips "m" max 100 {
    tally.instr "n" on "e1" reads ["Y"]
  }
  tally.loop "A" trips "n" max 3000 {
    tally.instr "w" on "e0" writes ["X[A]"]
    tally.instr "r" on "e1" reads ["X[A]"]
  }
}

tally.code @together {
  tally.semaphore "s"
  tally.program "e0" {
    tally.for "B" {
    }
    tally.for "A" {
      tally.issue "w" signals "s"
    }
  }
  tally.program "e1" {
    tally.register "t"
    tally.register "b"
    tally.register "both"
    tally.register "late"
    tally.for "B" counter "b" {
      tally.issue "n"
    }
    tally.for "A" counter "t" {
      tally.set "both" = "b" gt 41
      tally.set "late" = "b" gt 42
      tally.set "both" = "both" - "late"
      tally.set "late" = "t" gt 60
      tally.set "both" = "both" * "late"
      tally.set "both" = "t" - "both"
      tally.issue "r" waits "s" >= "both"
    }
  }
}
