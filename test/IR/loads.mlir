// RUN: not tally check %s 2>&1 | FileCheck %s --implicit-check-not=error:
// Loads of run-time values that are wrong, and right ones.

tally.kernel @wrong {
  tally.engine "act"
  tally.engine "pe"
  tally.engine "dma"
  tally.buffer "counts" shape [4]
  tally.buffer "X" shape [64]
  // CHECK-DAG: [[# @LINE + 1]]:3: error: 'mistyped' loads 'nn', which nothing needs: no loop has it for trips, no condition and no tile names it; load what one of them names
  tally.instr "mistyped" on "act" reads ["counts[0]"] loads ["nn"]
  tally.instr "n" on "act" reads ["counts[0]"] loads ["n"]
  // CHECK-DAG: [[# @LINE + 2]]:3: error: 'again' loads '$n' for engine 'act' once more, and that is one number throughout a run; leave one of the two out
  // CHECK-DAG: note: 'n' loads it here
  tally.instr "again" on "act" reads ["counts[0]"] loads ["n"]
  // CHECK-DAG: [[# @LINE + 2]]:3: error: 'either' loads 'more' for one engine; it cannot leave open which queue it is on
  // CHECK-DAG: [[# @LINE + 1]]:3: error: 'either' loads 'more', which nothing needs
  tally.instr "either" on "act" or ["pe"] reads ["counts[1]"] loads ["more"]
  // CHECK-DAG: [[# @LINE + 2]]:3: error: engine 'pe' needs 'n' for 'i', and has not loaded it; add an instruction on this engine, before that and where it always runs, with loads ["n"]
  // CHECK-DAG: note: 'n' loads it for engine 'act'
  tally.loop "i" trips = "$n" max 64 {
    tally.instr "a" on "act" writes ["X[i]"]
    tally.instr "b" on "pe" reads ["X[i]"]
    // CHECK-DAG: [[# @LINE + 1]]:5: error: 'inside' loads '$n' in 'i', and that is one number throughout a run; load it outside of loops and branches
    tally.instr "inside" on "dma" reads ["counts[0]"] loads ["n"]
  }
  tally.if "big" when "$n > 4" {
    tally.instr "m" on "act" reads ["counts[2]"] loads ["m"]
  }
  // Where it is loaded need not run.
  // CHECK-DAG: [[# @LINE + 1]]:3: error: engine 'act' needs 'm' for 'j', and has not loaded it
  tally.loop "j" trips "m" {
    tally.instr "c" on "act"
  }
  // CHECK-DAG: [[# @LINE + 1]]:3: error: engine 'pe' needs 'n' for 'row', and has not loaded it
  tally.instr "row" on "pe" reads ["X[$n]"]
}

// A value that is known at first, and loaded by only one of two engines for what comes next.
tally.kernel @stale {
  tally.engine "act"
  tally.engine "pe"
  tally.buffer "flags" shape [64]
  // CHECK-DAG: [[# @LINE + 1]]:3: error: engine 'pe' needs 'more' for 'w', and has not loaded it; add an instruction on this engine, in that and where it always runs, with loads ["more"]
  tally.loop "w" while "more" {
    tally.instr "c" on "pe" writes ["flags[0]"]
    tally.instr "next" on "act" reads ["flags[0]"] loads ["more"]
  }
  // One that is loaded elsewhere, too, is not known at first.
  // CHECK-DAG: [[# @LINE + 1]]:3: error: engine 'act' needs 'again' for 'v', and has not loaded it; add an instruction on this engine, before that and where it always runs
  tally.loop "v" while "again" {
    tally.instr "d" on "act" reads ["flags[0]"] loads ["again"]
  }
  tally.instr "late" on "act" reads ["flags[0]"] loads ["again"]
}

tally.kernel @known_at_first {
  tally.engine "act"
  tally.engine "pe"
  tally.buffer "flags" shape [64]
  tally.loop "w" while "more" {
    tally.instr "c" on "pe" writes ["flags[0]"]
    tally.instr "next" on "act" reads ["flags[0]"] loads ["more"]
    tally.instr "next_pe" on "pe" reads ["flags[0]"] loads ["more"]
  }
}

tally.kernel @right {
  tally.engine "act"
  tally.engine "pe"
  tally.buffer "counts" shape [64]
  tally.buffer "X" shape [64]
  tally.instr "n" on "act" reads ["counts[0]"] loads ["n", "more"]
  tally.instr "n_pe" on "pe" reads ["counts[0]"] loads ["n", "more"]
  tally.loop "i" trips = "$n" max 64 {
    tally.instr "m" on "act" reads ["counts[i]"] loads ["m", "hit", "row"]
    tally.loop "j" trips "m" {
      tally.instr "a" on "act" writes ["X[i]"]
    }
    tally.if "hit" {
      tally.instr "b" on "act" reads ["X[$row]"]
    }
  }
  tally.loop "w" while "more" {
    tally.instr "c" on "pe" reads ["X[$n - 1]"]
    tally.instr "next" on "pe" reads ["counts[1]"] loads ["more"]
  }
}
