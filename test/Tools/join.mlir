// A buffer that both branches of an `if` write. Under 'auto' both raise one semaphore, and who reads it waits once, and counts the loop
// instead of running the `if`. 'per-loop' has a semaphore and a wait for each.

// RUN: tally compile %s --machine=trn2 --quiet | FileCheck %s
// CHECK: tally.semaphore "c.in"
// CHECK-NEXT: tally.semaphore "use"
// CHECK-NEXT: tally.program "sync"
// CHECK: tally.issue "near" {{.*}} signals "c.in" by 16
// CHECK: tally.issue "far" {{.*}} signals "c.in" by 16
// CHECK: tally.program "scalar"
// CHECK-NOT: tally.branch
// CHECK: tally.issue "use" waits "c.in" >= "{{r[0-9]+}}" for [{{[0-9]+}}, {{[0-9]+}}]
// CHECK-NOT: tally.branch
// RUN: tally compile %s --machine=trn2 --sync=per-loop --quiet | FileCheck %s --check-prefix=APART
// APART: tally.semaphore "c.in"
// APART-NEXT: tally.semaphore "c.else.in"
// APART: tally.program "scalar"
// APART: tally.branch "c"

// It is exact, whatever the branches do: explored, and in all orders.

// RUN: tally check %s --machine=trn2 --explore --max-trips=3 --quiet | FileCheck %s --check-prefix=EXACT
// RUN: tally check %s --machine=trn2 --race --quiet | FileCheck %s --check-prefix=EXACT
// EXACT: verdict: yes

// Control operations of both programs, and what they are for.

// RUN: tally compare %s --machine=trn2 --format=json --quiet | %python -c "import json,sys; r={x['strategy']:x for x in json.load(sys.stdin)['rows']}; assert (r['auto']['instructions'], r['per-loop']['instructions'])==(15, 29), r"
// RUN: tally plan --diff %s --machine=trn2 --sync=per-loop --against=auto --quiet | FileCheck %s --check-prefix=DIFF
// DIFF: 'near' -> 'use'
// DIFF-NEXT: - nested: 'in' in c, N = 1, K = 1: 16*total(c)
// DIFF-NEXT: + in-shared: 'in' in i, N = 1, K = 1, one of 'near' and 'far': 16*total(i)
// RUN: tally plan %s --machine=trn2 --why --quiet | FileCheck %s --check-prefix=TRIED
// TRIED: semaphores as in per-loop: all instructions of a body raise one
// TRIED: semaphores of their branches for 'near' and 'far'
// RUN: tally explain %s --instr=use --machine=trn2 --quiet | FileCheck %s --check-prefix=WHY
// WHY: waits for 'near' -> 'use' raw
// WHY: semaphore raised by 'near' or 'far', of which each entry of the `if` runs one, by 16 each
// WHY: runs total(i): entries of 'i' so far, one run of 'near' or 'far' each
// WHY: exact yes
// RUN: tally plan %s --machine=trn2 --quiet | FileCheck %s --check-prefix=PLAN
// PLAN: group 0: queue 'in' in i, N = 1, one of 'near' and 'far'
// RUN: tally plan %s --machine=trn2 --quiet --format=json | %python -c "import json,sys; g=json.load(sys.stdin)['plans'][0]['groups']; assert [x['joined'] for x in g]==[['near','far'],None], g"

// No padding: where one branch writes nothing, its entries raise nothing, and the semaphore is that of the other branch.

// RUN: sed -e '/on "in"/{/"far"/d}' %s > %t.one.mlir
// RUN: tally compile %t.one.mlir --machine=trn2 --quiet | FileCheck %s --check-prefix=ONE
// ONE-NOT: tally.signal
// ONE: tally.program "scalar"
// ONE: tally.branch "c"
// RUN: tally check %t.one.mlir --machine=trn2 --explore --max-trips=3 --quiet | FileCheck %s --check-prefix=EXACT

tally.kernel @join {
  tally.engine "sync" queues ["in" weight 16]
  tally.engine "scalar"
  tally.buffer "n" shape [200, 512] type "f32" space "hbm"
  tally.buffer "f" shape [200, 512] type "f32" space "hbm"
  tally.buffer "x" shape [4, 512] type "f32" space "sbuf"
  tally.buffer "y" shape [4, 512] type "f32" space "sbuf"
  tally.loop "i" trips "trips" min 0 max 200 {
    tally.if "c" {
      tally.instr "near" on "in" op "dma_copy(bytes=2048)" computes "r0" reads ["n[i, 0:512]"] writes ["x[i mod 4, 0:512]"]
    } else {
      tally.instr "far" on "in" op "dma_copy(bytes=2048)" computes "r0" reads ["f[i, 0:512]"] writes ["x[i mod 4, 0:512]"]
    }
    tally.instr "use" on "scalar" op "activation(n=512)" computes "r0 * 0.5" reads ["x[i mod 4, 0:512]"] writes ["y[i mod 4, 0:512]"]
  }
}
