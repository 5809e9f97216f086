// Where an inner loop runs once, no later iteration of it carries an order over to the next iteration
// of the outer one: what is written `at "C" = 1` then orders nothing at all.
//
// RUN: bash -c 'tally check %s --race; test $? -eq 1' | FileCheck %s --check-prefix=RACE
// RACE: with --trips=A=3 --trips=C=1
// RACE: race: nothing makes 'clear' (A = 1, C = 0), which writes Z[0], wait for 'clear' (A = 0, C = 0)
// RACE: verdict: no
//
// RUN: bash -c 'tally compile %s --certify -o /dev/null 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=CERTIFY
// CERTIFY: error: the dependences that are written do not imply 'clear' -> 'clear' at 'A' = 1
// CERTIFY-SAME: and the code races for that

tally.kernel @c {
  tally.engine "act"
  tally.buffer "Z" shape [128]
  tally.loop "A" trips "n" max 65536 {
    tally.loop "C" trips "rows" max 128 {
      tally.instr "clear" on "act" writes ["Z[C]"]
    }
  }
  tally.dep "clear" -> "clear" waw at "C" = 1
}
