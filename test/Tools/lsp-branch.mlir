// Hover on a branch says that it is one, and what its 'else' means.
// RUN: %python %S/Inputs/lsp.py %s 'hover:if "h^it"' 'hover:el^se' | FileCheck %s
tally.kernel @k {
  tally.engine "act"
  tally.if "hit" {
    tally.instr "a" on "act"
  } else {
    tally.instr "b" on "act"
  }
}
// CHECK: --- hover:if "h^it"
// CHECK-NEXT: 5:13 [hit]
// CHECK-NEXT: branch `hit`
// CHECK: --- hover:el^se
// CHECK-NEXT: {{.*}} [else]
// CHECK-NEXT: `else`
// CHECK: What runs where the condition does not hold.
