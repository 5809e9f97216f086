// RUN: tally-opt %s --split-input-file --verify-diagnostics

// expected-error@+2 {{expected valid '@'-identifier for symbol name}}
// One cannot say much about what is not even the beginning of a kernel.
tally.kernel "k" {
}

// -----

tally.kernel @k {
  // expected-error@+1 {{expected the name of an engine in quotes}}
  tally.engine act
}

// -----

tally.kernel @k {
  // expected-error@+1 {{the name of an engine must not be empty}}
  tally.engine ""
}

// -----

tally.kernel @k {
  // expected-error@+1 {{expected 'trips' with a number or the name of a run-time value, or 'while' with the name of a condition}}
  tally.loop "A" {
  }
}

// -----

tally.kernel @k {
  // expected-error@+1 {{expected a number of at least 0}}
  tally.loop "A" trips -1 {
  }
}

// -----

tally.kernel @k {
  // expected-error@+1 {{number does not fit in 64 bits}}
  tally.loop "A" trips 99999999999999999999 {
  }
}

// -----

tally.kernel @k {
  // expected-error@+1 {{expected 'on' and the queue that the instruction runs on}}
  tally.instr "load"
}

// -----

// Clauses come in any order, so what is wrong with one is said of it alone.

tally.kernel @k {
  // expected-error@+1 {{'weight' is given twice}}
  tally.engine "e" weight 2 split weight 2
}

// -----

tally.kernel @k {
  // expected-error@+1 {{'whole' is given together with 'split'; both say how a queue completes}}
  tally.engine "e" queues ["q" split weight 2 whole]
}

// -----

tally.kernel @k {
  // expected-error@+1 {{'while' is given together with 'trips'; both say how often the loop runs}}
  tally.loop "A" trips 4 while "more" {
  }
}

// -----

tally.kernel @k {
  // expected-error@+1 {{'min' and 'max' bound a run-time value, as in 'trips "n" min 1'}}
  tally.loop "A" max 4 trips 4 {
  }
}

// -----

tally.kernel @k {
  // expected-error@+1 {{'war' is given together with 'raw'; both say what kind it is}}
  tally.dep "a" -> "b" raw war
}

// -----

tally.kernel @k {
  // expected-error@+1 {{'raw' is given twice}}
  tally.dep "a" -> "b" raw at "A" = 1 raw
}

// -----

tally.kernel @k {
  // expected-error@+1 {{'element' is given together with 'flat'; both say how far the dependence reaches}}
  tally.dep "a" -> "b" flat 1 element 1
}

// -----

tally.kernel @k {
  // expected-error@+1 {{'flat' counts runs over the whole execution, so 'at' cannot be given with it}}
  tally.dep "a" -> "b" at "A" = 1 flat 1
}

// -----

tally.kernel @k {
  // expected-error@+1 {{unknown clause 'wirtes'; the clauses here are 'on', 'or', 'op', 'computes', 'reads', 'writes', 'accumulates', 'loads', 'semaphore'; did you mean 'writes'?}}
  tally.instr "a" on "q" wirtes ["X"]
}

// -----

tally.kernel @k {
  // expected-error@+1 {{unknown clause 'split'; the clauses here are 'shape', 'type', 'space', 'at', 'partitions', 'alias', 'noalias', 'ring'}}
  tally.buffer "X" split
}

// -----

// expected-error@+1 {{'strategy' is given twice}}
tally.code @k strategy "manual" machine "m" strategy "auto" {
}

// -----

tally.code @k {
  tally.program "a" {
    // expected-error@+1 {{'at_once' is given together with 'unroll'; both say how the loop is written out}}
    tally.for "A" unroll 2 counter "r" at_once {
    }
  }
}

// -----

tally.code @k {
  tally.program "a" {
    // expected-error@+1 {{'signals' is given twice}}
    tally.issue "i" signals "s" waits "t" >= 1 for [0] signals "u"
  }
}

// -----

tally.kernel @k {
  // expected-error@+1 {{expected '->'}}
  tally.dep "a" "b"
}

// -----

tally.kernel @k {
  tally.if "c" {
  } else {
  // expected-error@+1 {{at most one 'else' is allowed}}
  } else {
  }
}

// -----

tally.code @k {
  tally.program "a" {
    // expected-error@+1 {{expected a number or the name of a register in quotes}}
    tally.set "r" = r0
  }
}

// -----

tally.code @k {
  tally.program "a" {
    // expected-error@+1 {{expected a number that a register can hold}}
    tally.wait "s" >= -1
  }
}

// -----

func.func @f() {
  // expected-error@+1 {{expected type 'index', found 'i32'}}
  %0 = tally.trips "A" : i32
  return
}

// -----

tally.kernel @k {
  // expected-error@+1 {{expected}}
  tally.engine "act"
