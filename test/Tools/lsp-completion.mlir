// What could stand at the cursor, in a text that is being typed.
// RUN: %python %S/Inputs/lsp.py %s 'completion:  tal^' 'completion:buffer ^' 'completion:"Y" al^' 'completion:    tal^' 'completion:"load" on "^' 'completion:["X^[A' 'completion:["X[A^' 'completion:"Y"] s^' 'completion:"more" on ^' 'completion:and a^ comment' 'completion:writes ["^' 'completion:-> ^' 'completion:at "^' 'completion:code @^' 'completion:waits "^' 'completion:>= ^' 'completion:      re^' | FileCheck %s
tally.kernel @k {
  tal
  tally.engine "act"
  tally.engine "dma" queues ["q"]
  tally.buffer "X" shape [64]
  tally.buffer "Y" al
  tally.loop "A" trips "n" max 32 {
    tal
    tally.instr "load" on "
    tally.instr "scale" on "act" reads ["X[A", "Y"] semaphore 
    tally.instr "more" on // and a comment
    tally.instr "again" on "act" writes ["
    tally.instr "more lines" on "dma"
      re
  }
  tally.dep "load" -> 
  tally.dep "load" -> "scale" at "
}
tall
tally.code @
tally.code @k {
  tally.semaphore "s"
  tally.program "act" {
    tally.register "r0"
    tally.issue "load" waits "s" >= 
// CHECK: --- completion:  tal^
// CHECK-NEXT: tally.engine tally.value tally.buffer tally.loop tally.if tally.instr tally.dep
// CHECK-NEXT: takes the place of ['4:3 [tal]']
// CHECK: --- completion:buffer ^
// CHECK-NEXT: nothing
// CHECK-NEXT: takes the place of []
// CHECK: --- completion:"Y" al^
// CHECK-NEXT: shape type space at partitions alias noalias ring
// CHECK-NEXT: takes the place of ['8:20 [al]']
// CHECK: --- completion:    tal^
// CHECK-NEXT: tally.loop tally.if tally.instr
// CHECK-NEXT: takes the place of ['10:5 [tal]']
// CHECK: --- completion:"load" on "^
// CHECK-NEXT: act dma q
// CHECK-NEXT: takes the place of ['11:28 []']
// CHECK: --- completion:["X^[A
// CHECK-NEXT: X Y
// CHECK-NEXT: takes the place of ['12:42 [X]']
// CHECK: --- completion:["X[A^
// CHECK-NEXT: A $n mod floordiv total trips if and
// CHECK-NEXT: takes the place of ['12:44 [A]']
// CHECK: --- completion:"Y"] s^
// CHECK-NEXT: op computes writes accumulates loads semaphore
// CHECK-NEXT: takes the place of ['12:53 [semaphore]']
// CHECK: --- completion:"more" on ^
// CHECK-NEXT: "act" "dma" "q"
// CHECK-NEXT: takes the place of ['13:27 []']
// CHECK: --- completion:and a^ comment
// CHECK-NEXT: nothing
// CHECK-NEXT: takes the place of []
// CHECK: --- completion:writes ["^
// CHECK-NEXT: X Y
// CHECK-NEXT: takes the place of ['14:43 []']
// CHECK: --- completion:-> ^
// CHECK-NEXT: "load" "scale" "more" "again"
// CHECK-NEXT: takes the place of ['18:23 []']
// CHECK: --- completion:at "^
// CHECK-NEXT: A
// CHECK-NEXT: takes the place of ['19:35 []']
// CHECK: --- completion:code @^
// CHECK-NEXT: k
// CHECK-NEXT: takes the place of ['22:13 []']
// CHECK: --- completion:waits "^
// CHECK-NEXT: s
// CHECK-NEXT: takes the place of ['27:31 [s]']
// CHECK: --- completion:>= ^
// CHECK-NEXT: "r0"
// CHECK-NEXT: takes the place of ['27:37 []']
// CHECK: --- completion:      re^
// CHECK-NEXT: tally.loop tally.if tally.instr or op computes reads writes accumulates loads semaphore
