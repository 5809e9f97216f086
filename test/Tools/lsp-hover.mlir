// What is under the cursor: instructions and dependences with their reasons, other names, words.
// RUN: %python %S/Inputs/lsp.py %s 'hover:instr "lo^ad"' 'hover:tally.d^ep "c"' 'hover:-^> "c"' 'hover:"B^" = 2' 'hover:max^' 'hover:m^od 2' 'hover:X^[A' 'hover:on "q^"' 'hover:^{' 'change:trips "n"=>trips' 'hover:tally.in^str "scale"' | FileCheck %s
tally.kernel @k {
  tally.engine "act"
  tally.engine "dma" queues ["q" weight 16]
  tally.buffer "X" shape [2, 8]
  tally.loop "A" trips "n" max 64 {
    tally.instr "load" on "q" writes ["X[A mod 2, 0:8]"]
    tally.instr "scale" on "act" reads ["X[A mod 2, 0:8]"]
  }
}
tally.kernel @written {
  tally.engine "e"
  tally.engine "f"
  tally.loop "B" trips 4 {
    tally.instr "p" on "e"
    tally.instr "c" on "f"
  }
  tally.dep "p" -> "c"
  tally.dep "c" -> "p" at "B" = 2
}
// CHECK: --- hover:instr "lo^ad"
// CHECK-NEXT: 8:18 [load]
// CHECK: tally.instr "load" on "q" writes ["X[A mod 2, 0:8]"]
// CHECK: instruction `load` on queue `q` of engine `dma`
// CHECK-NEXT: writes `X[A mod 2, 0:8]`
// CHECK: **waits for**
// CHECK: - `'scale' -> 'load' at 'A' = 2 war`, found from the accesses
// CHECK-NEXT: - because of the accesses: `{{.*}}'scale' reads X[A mod 2, 0:8]; 'load' writes X[A mod 2, 0:8])`; it waits no longer than they ask for
// CHECK-NEXT: - class: `in-shared
// CHECK: - threshold: `max(total(A) - 2, 0)`
// CHECK: **needs no wait for**
// CHECK: - `'load' -> 'load' at 'A' = 2
// CHECK-NEXT: - `by 'scale' -> 'load' at 'A' = 2, 'load' -> 'scale'`
// CHECK: **is waited for by**
// CHECK: - `'load' -> 'scale' raw`
// CHECK: With strategy `auto`, machine `teaching`.
// The second dependence of the second kernel, which is written and has no accesses.
// CHECK: --- hover:tally.d^ep "c"
// CHECK: The consumer waits for an earlier run of the producer.
// CHECK: `p` waits for `c`
// CHECK: - `'c' -> 'p' at 'B' = 2`
// CHECK-NOT: because of
// CHECK: threshold:
// CHECK: --- hover:-^> "c"
// CHECK: `c` waits for `p`
// CHECK: --- hover:"B^" = 2
// CHECK: tally.loop "B" trips 4
// CHECK: --- hover:max^
// CHECK: The most that the run-time value of the trips can be.
// CHECK: --- hover:m^od 2
// CHECK-NEXT: 8:44 [mod]
// CHECK: never negative
// CHECK: --- hover:X^[A
// CHECK: tally.buffer "X" shape [2, 8]
// CHECK: `writes` of `load`
// CHECK-NEXT: `reads` of `scale`
// CHECK: --- hover:on "q^"
// CHECK: queue `q`
// CHECK: `on` of `load`
// CHECK: --- hover:^{
// CHECK-NEXT: nothing
// While there is a syntax error, what was known before.
// CHECK: --- hover:tally.in^str "scale"
// CHECK: `'load' -> 'scale' raw`
// CHECK: As of the last text that could be read.
