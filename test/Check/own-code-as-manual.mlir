// RUN: tally compile --sync=per-loop %s | sed 's/"per-loop"/"manual"/' > %t.mlir
// RUN: tally check %t.mlir | FileCheck %s
// RUN: sed 's/"r1" \* "r2"/"r0" * "r1"/' %t.mlir > %t.more.mlir
// RUN: not tally check %t.more.mlir | FileCheck %s --check-prefix=MORE

// Code of tally's own, as somebody may go on with it by hand, sets "r1" twice: to whether enough
// slots have been used, and to the threshold. Each result has a bound of its own.
// CHECK: race:    yes
// CHECK: verdict: yes

// MORE: verdict: {{no|could not decide}}
tally.kernel @own_code_as_manual {
  tally.engine "sync" weight 16
  tally.engine "tensor"
  tally.buffer "keys" shape [2]
  tally.loop "i" trips = "$n" max 64 {
    tally.loop "j" trips = "i + 1" {
      tally.instr "load" on "sync" writes ["keys[total(j) mod 2]"]
      tally.instr "match" on "tensor" reads ["keys[total(j) mod 2]"]
    }
  }
}
