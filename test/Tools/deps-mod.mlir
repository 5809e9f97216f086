// A counter inside `mod` inside `floordiv`, over a loop whose count only the run knows. Taking what a wait covers
// from the conflicts is easy as long as counters stay coordinates; asked about distances and iterations
// alone, isl needs more than ten minutes.

// RUN: tally deps %s 2>&1 | FileCheck %s --implicit-check-not="too hard"
// CHECK: 4 dependences from 2 accesses

module {
  tally.kernel @nested {
    tally.engine "load"
    tally.engine "use"
    tally.buffer "X" shape [18, 11] type "f32"
    tally.loop "i" trips 4 {
      tally.loop "j" trips "n" min 2 max 4 {
        tally.loop "k" trips 4 {
          tally.instr "fill" on "load" writes ["X[0:2:3, (i + total(j) mod 3 + 3) floordiv 2:3:3]"]
          tally.instr "read" on "use" reads ["X[i mod 3 + total(j), 0:4]"]
        }
      }
    }
  }
}
