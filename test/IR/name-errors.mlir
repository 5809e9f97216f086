// RUN: tally-opt %s --split-input-file --verify-diagnostics

// Every unknown name is reported in one run, each with what is known.

tally.kernel @k {
  tally.engine "act"
  tally.engine "dma"
  tally.buffer "X"
  tally.loop "A" trips 2 {
    tally.instr "load" on "dma" writes ["X"]
    // expected-error@+1 {{unknown queue 'damn'; the queues of this kernel are 'act', 'dma'}}
    tally.instr "lost" on "damn"
    // expected-error@+2 {{unknown buffer 'Y'; the buffers of this kernel are 'X'}}
    // expected-error@+1 {{'X[' is not a tile}}
    tally.instr "scale" on "act" reads ["Y", "X["]
  }
  // expected-error@+1 {{unknown instruction 'laod'; the instructions of this kernel are 'load', 'scale'}}
  tally.dep "laod" -> "scale"
  // expected-error@+1 {{unknown loop 'B'; the loops of this kernel are 'A'}}
  tally.dep "load" -> "scale" at "B" = 1
  // What was left out because of its queue causes no second error.
  tally.dep "lost" -> "scale"
}

// -----

// Among many names, the nearest is shown.

tally.kernel @k {
  tally.engine "a"
  tally.instr "one" on "a"
  tally.instr "two" on "a"
  tally.instr "three" on "a"
  tally.instr "four" on "a"
  tally.instr "five" on "a"
  tally.instr "six" on "a"
  tally.instr "seven" on "a"
  tally.instr "eight" on "a"
  tally.instr "nine" on "a"
  // expected-error@+1 {{unknown instruction 'sevn'; the instructions of this kernel are 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'; did you mean 'seven'?}}
  tally.dep "one" -> "sevn"
}

// -----

tally.kernel @k {
  tally.engine "a"
  // expected-error@+1 {{unknown instruction 'x'; this kernel has no instructions}}
  tally.dep "x" -> "x" flat 1
}

// -----

// expected-error@+1 {{'tally.code' op is for kernel 'other', which is not in this module; write the kernel and its code in the same file}}
tally.code @other {
}

// -----

tally.kernel @k {
  tally.engine "act"
  tally.engine "dma"
  tally.loop "A" trips 2 {
    tally.instr "load" on "dma"
  }
  // expected-note@+1 {{'c' is here}}
  tally.if "c" {
  }
}

tally.code @k {
  tally.semaphore "s"
  // expected-error@+1 {{semaphore 's' is declared twice}}
  tally.semaphore "s"
  // expected-error@+1 {{unknown engine 'pool'; the engines of the kernel are 'act', 'dma'}}
  tally.program "pool" {
  }
  tally.program "dma" {
    tally.register "r"
    // expected-error@+1 {{register 'r' is declared twice; names of registers are unique on an engine}}
    tally.register "r"
    // expected-error@+1 {{unknown register 'q'; the registers of this engine are 'r'}}
    tally.set "r" = "q"
    // expected-error@+1 {{number 4294967296 does not fit in a register; at most 4294967295 is allowed}}
    tally.set "r" = 4294967296
    // expected-error@+1 {{unknown loop 'Z'; the loops and branches of the kernel are 'A', 'c', 'c.else'}}
    tally.for "Z" {
    }
    // expected-error@+1 {{'c' is a branch; run it with 'tally.branch'}}
    tally.for "c" {
    }
    // expected-error@+1 {{unknown semaphore 't'; the semaphores declared here are 's'}}
    tally.wait "t" >= 1
    // expected-error@+1 {{unknown dependence 4; the kernel has 0, numbered from 0}}
    tally.wait "s" >= 1 for [4]
    // expected-error@+1 {{unknown instruction 'store'; the instructions of the kernel are 'load'}}
    tally.issue "store"
    // expected-error@+1 {{an amount is 0; it lies between 1 and 2147483647}}
    tally.signal "s" by 0
    // expected-error@+1 {{a count is 0; it lies between 1 and 2147483647}}
    tally.reset "s" count 0
    // expected-error@+1 {{unknown engine 'x'}}
    tally.barrier ["x"] {
    }
  }
  // expected-error@+1 {{engine 'dma' has two programs; one is allowed}}
  tally.program "dma" {
  }
}

// -----

// Code for a kernel twice.

tally.kernel @twice {
  tally.engine "a"
}
// expected-note@+1 {{the first is here}}
tally.code @twice {
}
// expected-error@+1 {{kernel 'twice' has code twice; one 'tally.code' is allowed for each kernel}}
tally.code @twice {
}
// expected-error@+1 {{kernel 'twice' has code twice}}
tally.code @twice {
}
