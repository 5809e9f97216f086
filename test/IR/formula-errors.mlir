// RUN: tally-opt %s --split-input-file --verify-diagnostics

tally.kernel @no_expression {
  tally.engine "e"
  // expected-error@+1 {{an expression must not be empty}}
  tally.loop "A" trips = "" {
  }
}

// -----

tally.kernel @no_end {
  tally.engine "e"
  // expected-error@+1 {{'$n / 2' does not say how often 'A' runs: column 4: there is no '/'; division is written 'floordiv', and rounds down}}
  tally.loop "A" trips = "$n / 2" {
  }
}

// -----

tally.kernel @bounds_of_more {
  tally.engine "e"
  // expected-error@+1 {{'min' and 'max' bound a value alone, such as '$n'; those of the formula '$n + 1' follow from the bounds of what it names}}
  tally.loop "A" trips = "$n + 1" max 4 {
  }
}

// -----

tally.kernel @not_around {
  tally.engine "e"
  tally.loop "A" trips 4 {
  }
  // expected-error@+1 {{'A + 1' cannot say how often loop 'B' runs: 'A' is not a loop around it; a run-time value is written '$A'}}
  tally.loop "B" trips = "A + 1" {
  }
}

// -----

tally.kernel @counts {
  tally.engine "e"
  tally.loop "A" trips 4 {
    // expected-error@+1 {{'trips(A)' cannot say how often loop 'B' runs: it names 'trips(A)'; iterations of loops around it, run-time values and numbers are allowed}}
    tally.loop "B" trips = "trips(A)" {
    }
  }
}

// -----

tally.kernel @too_large {
  tally.engine "e"
  tally.loop "A" trips 4 {
    // expected-error@+1 {{cannot say how often loop 'B' runs: its numbers may not fit in 64 bits}}
    tally.loop "B" trips = "$n * 9223372036854775807 + A" {
    }
  }
}

// -----

tally.kernel @divergent {
  tally.engine "e"
  // expected-error@+1 {{loop 'A' is divergent, but '$n' is the same on all engines; drop 'divergent'}}
  tally.loop "A" trips = "$n" divergent {
  }
}

// -----

tally.kernel @two_meanings {
  tally.engine "e"
  // expected-note@+1 {{'$n' is here}}
  tally.loop "A" trips = "$n" {
  }
  // expected-error@+1 {{loop 'B' runs 'n' times, which may be another number each time it is reached, and '$n' is one number for the whole run; write 'trips = "$n"', or give one of the two another name}}
  tally.loop "B" trips "n" {
  }
}

// -----

tally.kernel @apart {
  tally.engine "e"
  // expected-error@+1 {{'$n' is at least 5 and at most 4; the minimum must not exceed the maximum}}
  tally.loop "A" trips = "$n" min 5 {
  }
  tally.loop "B" trips = "$n" max 4 {
  }
}

// -----

tally.kernel @written_here {
  tally.engine "e"
  tally.buffer "n"
  tally.loop "i" trips 3 {
    // expected-error@+1 {{how often 'A' runs is given by 'n', and 'x' writes a buffer of that name}}
    tally.loop "A" trips = "$n - i" {
      // expected-note@+1 {{'x' is here}}
      tally.instr "x" on "e" writes ["n"]
    }
  }
}

// -----

tally.kernel @too_often {
  tally.engine "e"
  tally.loop "i" trips = "$n" max 2000000000 {
    // expected-error@+1 {{loop 'A' may run more than 2147483647 times, as often as 'i * 2000000000' says; that is the most; state a smaller 'max' for what it names}}
    tally.loop "A" trips = "2000000000 * i" {
      tally.instr "x" on "e"
    }
  }
}
