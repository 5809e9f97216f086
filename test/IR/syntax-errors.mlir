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
  // expected-error@+2 {{expected 'on' and the queue that the instruction runs on}}
  tally.instr "load"
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
