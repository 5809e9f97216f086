// Two faults, each seen in runs that the other fault spoils, too. A report is kept for the first run that has it, and a mend
// must bring nothing new to any run: that is known from the runs themselves, not from the reports that were kept.
//
// RUN: not tally check %s --race 2>&1 | FileCheck %s
// CHECK: error: race: nothing makes 'load' (i = 4), which writes X[0, 0:64], wait for 'useb' (i = 0), which reads it
// CHECK: note: 'load' waits for 'freeb' >= 5, but a signal in the code of 'b' raises it, too, and may be what the wait has counted
// CHECK: note: mend: let 'load' on 'ld' wait for 'freeb' >= "t" + 1, 1 more than now;
// CHECK-SAME: nor the race of 'load' and 'load'
// CHECK: error: race: nothing makes 'load' (i = 7), which writes X[3, 0:64], wait for 'usea' (i = 3), which reads it
// CHECK: note: mend: let 'a' drain before it raises 'freea', after 'usea';
// CHECK: verdict: no
//
// RUN: sed -e 's/waits "freeb" >= "t"/waits "freeb" >= "w"/' -e 's/^ *tally.wait "freea"/tally.set "w" = "t" + 1\n&/' -e 's/^ *} else {/&\ntally.drain/' %s > %t.mlir
// RUN: tally check %t.mlir --race | FileCheck %s --check-prefix=MENDED
// MENDED: verdict: yes

tally.kernel @ring {
  tally.engine "ld" weight 16
  tally.engine "a"
  tally.engine "b"
  tally.buffer "in" shape [4096, 64] type "f32"
  tally.buffer "X" shape [4, 64] type "f32" space "sbuf"
  tally.buffer "oa" shape [4096, 64] type "f32"
  tally.buffer "ob" shape [4096, 64] type "f32"
  tally.loop "i" trips "n" max 4096 {
    tally.instr "load" on "ld" reads ["in[i, 0:64]"] writes ["X[i mod 4, 0:64]"]
    tally.if "hot" {
      tally.instr "usea" on "a" reads ["X[i mod 4, 0:64]"] writes ["oa[i, 0:64]"]
    }
    tally.instr "useb" on "b" reads ["X[i mod 4, 0:64]"] writes ["ob[i, 0:64]"]
  }
}
tally.code @ring strategy "manual" machine "generic" {
  tally.semaphore "full"
  tally.semaphore "freea"
  tally.semaphore "freeb"
  tally.program "ld" {
    tally.register "t"
    tally.register "w"
    tally.for "i" {
      tally.set "t" = "t" + 1
      tally.wait "freea" >= "t"
      tally.issue "load" waits "freeb" >= "t" signals "full" by 16
    }
  }
  tally.program "a" {
    tally.register "t"
    tally.signal "freea" by 4
    tally.for "i" {
      tally.set "t" = "t" + 16
      tally.branch "hot" {
        tally.issue "usea" waits "full" >= "t" signals "freea"
      } else {
        tally.signal "freea"
      }
    }
  }
  tally.program "b" {
    tally.register "t"
    tally.signal "freeb" by 5
    tally.for "i" {
      tally.set "t" = "t" + 16
      tally.issue "useb" waits "full" >= "t" signals "freeb"
    }
  }
}
