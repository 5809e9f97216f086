// An instruction that loads a run-time value reads memory like any other, and its engine goes on when it has retired.

// RUN: split-file %s %t
// RUN: tally check %t/counted.mlir --race --explore --trips=n=2 | FileCheck %s --check-prefix=YES
// YES: verdict: yes
// RUN: tally sim %t/counted.mlir --trips=n=3 --machine=trn2 --check-data | FileCheck %s --check-prefix=DATA
// DATA: all of memory is as after the sequential run

// A copy of it without 'loads' takes less time, by what 'n_act' takes on the way.
// RUN: sed 's/ loads .*//' %t/counted.mlir > %t/known.mlir
// RUN: tally sim %t/counted.mlir --trips=n=3 --machine=trn2 --format=json > %t/loaded.json
// RUN: tally sim %t/known.mlir --trips=n=3 --machine=trn2 --format=json > %t/known.json
// RUN: %python -c "import json, sys; a, b = (json.load(open(p))['runs'][0]['total_ps'] for p in sys.argv[1:]); sys.exit(not a > b)" %t/loaded.json %t/known.json

// Without the dependence on what it reads, it is a race.
// RUN: tally compile %t/counted.mlir --machine=teaching --format=json -o %t/code.json
// RUN: sed '/"issue", "instr": "n_store"/s/"wait": {.*\[[0-9]*\]}/"wait": null/; s/"strategy": "auto"/"strategy": "manual"/' %t/code.json > %t/edited.json
// RUN: not tally check %t/edited.json --race --trips=n=2 2>&1 | FileCheck %s --check-prefix=RACE
// RACE: race: nothing makes 'n_store', which reads counts[0], wait for 'count', which writes it

// An engine that only counts a loop needs the value, too.
// RUN: not tally compile %t/outside.mlir --machine=teaching --sync=per-loop 2>&1 | FileCheck %s --check-prefix=COUNTS
// COUNTS: outside.mlir:{{[0-9]+}}:3: error: in the code of engine 'store': it runs 'i', which 'n' gives, and has not loaded that; add an instruction on this engine, before 'i', with loads ["n"]
// COUNTS: note: 'n_act' loads it for engine 'act'

// One that is known when the loop is reached is loaded only for the next iterations.
// RUN: tally check %t/flag.mlir --race --explore --guards=3 | FileCheck %s --check-prefix=YES
// RUN: not tally compile %t/flag-outside.mlir --machine=teaching --sync=per-loop 2>&1 | FileCheck %s --check-prefix=IN
// IN: error: in the code of engine 'store': it runs 'w', which 'more' gives, and has not loaded that; add an instruction on this engine, in 'w', with loads ["more"]

//--- flag.mlir
tally.kernel @flag {
  tally.engine "act"
  tally.engine "store"
  tally.buffer "flag" shape [1]
  tally.buffer "X" shape [128]
  tally.loop "w" while "more" {
    tally.instr "compute" on "act" writes ["X[0:128]"]
    tally.instr "test" on "act" reads ["X[0:128]"] writes ["flag[0]"]
    tally.instr "next" on "act" reads ["flag[0]"] loads ["more"]
    tally.instr "save" on "store" reads ["X[0:128]"]
    tally.instr "next_store" on "store" reads ["flag[0]"] loads ["more"]
  }
}

//--- flag-outside.mlir
tally.kernel @flag {
  tally.engine "act"
  tally.engine "store"
  tally.buffer "flag" shape [1]
  tally.buffer "X" shape [128]
  tally.loop "w" while "more" {
    tally.instr "compute" on "act" writes ["X[0:128]"]
    tally.instr "test" on "act" reads ["X[0:128]"] writes ["flag[0]"]
    tally.instr "next" on "act" reads ["flag[0]"] loads ["more"]
  }
  tally.instr "save" on "store" reads ["X[0:128]"]
}

//--- counted.mlir
tally.kernel @counted {
  tally.engine "vector"
  tally.engine "scalar"
  tally.buffer "counts" shape [1] type "i32"
  tally.buffer "X" shape [64, 128] type "f32"
  tally.instr "count" on "vector" op "tensor_scalar(n=1)" computes "3" writes ["counts[0]"]
  tally.instr "n_act" on "vector" op "tensor_scalar(n=512)" reads ["counts[0]"] loads ["n"]
  tally.instr "n_store" on "scalar" op "activation(n=1)" reads ["counts[0]"] loads ["n"]
  tally.loop "i" trips = "$n" max 64 {
    tally.instr "compute" on "vector" op "tensor_scalar(n=1)" computes "1" writes ["X[i, 0:128]"]
    tally.instr "store" on "scalar" op "activation(n=1)" reads ["X[i, 0:128]"]
  }
}

//--- outside.mlir
tally.kernel @outside {
  tally.engine "act"
  tally.engine "store"
  tally.buffer "counts" shape [1]
  tally.buffer "X" shape [64, 128]
  tally.instr "n_act" on "act" reads ["counts[0]"] loads ["n"]
  tally.loop "i" trips = "$n" max 64 {
    tally.instr "compute" on "act" writes ["X[i, 0:128]"]
  }
  tally.instr "store" on "store" reads ["X[0:64, 0:128]"]
}
