// RUN: tally-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{'tally.instr' op must stand in the body of a 'tally.kernel'}}
tally.instr "load" on "dma"

// -----

// expected-error@+1 {{'tally.engine' op must stand directly in a 'tally.kernel'}}
tally.engine "dma"

// -----

// expected-error@+1 {{'tally.program' op must stand directly in a 'tally.code'}}
tally.program "dma" {
}

// -----

// expected-error@+1 {{'tally.issue' op must stand in a 'tally.program'}}
tally.issue "load"

// -----

func.func @f() {
  // expected-error@+1 {{'tally.code' op must stand directly in a module}}
  tally.code @k {
  }
  return
}

// -----

// All misplaced operations are reported, and what is wrong with the rest.

// expected-note@+1 {{the body is here}}
tally.kernel @k {
  tally.engine "act"
  // expected-error@+1 {{'tally.issue' op may not stand in a 'tally.kernel'; allowed there are engine, value, buffer, loop, if, instr and dep}}
  tally.issue "load"
  // expected-note@+1 {{the body is here}}
  tally.loop "A" trips 2 {
    // expected-error@+1 {{'tally.engine' op may not stand in a 'tally.loop'; allowed there are loop, if, instr and dep}}
    tally.engine "dma"
    // expected-error@+1 {{'tally.semaphore' op may not stand in a 'tally.loop'}}
    tally.semaphore "s"
  }
  // expected-error@+1 {{'arith.constant' op may not stand in a 'tally.kernel'}}
  %0 = arith.constant 0 : i32
  // expected-error@+1 {{'tally.drain' op may not stand in a 'tally.kernel'}}
  tally.drain
  // expected-error@+1 {{unknown queue 'pool'; the queues of this kernel are 'act'}}
  tally.instr "x" on "pool"
}

// -----

tally.kernel @k {
  tally.engine "act"
}

// expected-note@+1 {{the body is here}}
tally.code @k {
  // expected-error@+1 {{'tally.drain' op may not stand in a 'tally.code'; allowed there are semaphore and program}}
  tally.drain
  // expected-note@+1 {{the body is here}}
  tally.program "act" {
    // expected-error@+1 {{'tally.instr' op may not stand in a 'tally.program'; allowed there are register, set, for, branch, wait, issue, signal, reset, drain, barrier and when}}
    tally.instr "x" on "act"
    // expected-note@+1 {{the body is here}}
    tally.for "A" {
      // expected-error@+1 {{'tally.register' op may not stand in a 'tally.for'}}
      tally.register "r"
    }
  }
}

// -----

func.func @f() {
  %0 = arith.constant 0 : i32
  // expected-error@+1 {{'tally.run' op has a threshold but no semaphore to wait for}}
  "tally.run"(%0) <{data = {instr = "x"}}> : (i32) -> ()
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{'tally.run' op has a semaphore to wait for but no threshold}}
  "tally.run"() <{data = {instr = "x", waits = {semaphore = "s"}}}> : () -> ()
  return
}

// -----

// The generic form is judged, too.

// expected-error@+1 {{property 'name' must be a string}}
"tally.instr"() <{data = {name = 3 : i64}}> : () -> ()

// -----

// expected-error@+1 {{property 'kind' must be one of its kinds}}
"tally.loop"() <{data = {name = "A", trips = {kind = 7 : i64}}}> ({
}) : () -> ()

// -----

// expected-error@+1 {{property 'data' must be without unknown entries}}
"tally.instr"() <{data = {name = "x", colour = "red"}}> : () -> ()
