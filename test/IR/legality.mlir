// RUN: tally-opt %s --split-input-file --verify-diagnostics

// The core judges legality; the verifier passes on all that it finds, at its place.
// What is legal in detail is tested with the core.

tally.kernel @k {
  tally.engine "act"
  tally.engine "dma"
  // expected-error@+1 {{trip count is at most 2147483647}}
  tally.loop "A" trips 4294967296 {
    // expected-note@+1 {{}}
    tally.instr "load" on "dma"
    // expected-note@+1 {{}}
    tally.instr "scale" on "act"
  }
  // expected-error@+1 {{'load'}}
  tally.dep "scale" -> "load" at "A" = -1
}

// -----

tally.kernel @k {
  // expected-error@+1 {{queue 'dma' has weight 4294967297; a weight is at most 2147483647}}
  tally.engine "dma" weight 4294967297
}

// -----

// expected-error@+1 {{has no engine}}
tally.kernel @k {
}
