// A comment.
// ^^^^^^^^^^ comment
tally.kernel @pipeline reserves [0, 1] {
//^^^^^^^^^^ keyword.control.tally
//           ^^^^^^^^^ entity.name.function
//                     ^^^^^^^^ storage.modifier
//                               ^ constant.numeric
  tally.engine "sync" weight 16 split queues ["load" weight 4]
//^^^^^^^^^^^^ support.function
//             ^^^^^^ string.quoted.double.tally
//                    ^^^^^^ storage.modifier
//                           ^^ constant.numeric
//                              ^^^^^ storage.modifier
//                                    ^^^^^^ storage.modifier
  tally.buffer "a \"b\" \41" shape [2, 128] type "bf16"
//^^^^^^^^^^^^ support.function
//             ^^^^^^^^^^^^^ string.quoted
//                           ^^^^^ storage.modifier
//                ^^ constant.character.escape
//                      ^^^ constant.character.escape
  tally.loop "A" trips "n" min 1 max 4096 divergent {
//^^^^^^^^^^ keyword.control
//               ^^^^^ storage.modifier
//                             ^ constant.numeric
    tally.instr "load" on "sync" reads ["X[A mod 2, $n:16:4] if A < trips(A) - 1", "Y[@]"]
//  ^^^^^^^^^^^ support.function
//                     ^^ storage.modifier
//                               ^^^^^ storage.modifier
//                                       ^ variable.other
//                                         ^ variable.other
//                                           ^^^ keyword.operator.word
//                                               ^ constant.numeric
//                                                  ^^ variable.parameter
//                                                           ^^ keyword.operator.word
//                                                                  ^^^^^ support.function
//                                                                                    ^ variable.parameter
    tally.instr "add" on "v" computes "select(r0 < 1e-6, inf, r1)" writes ["Z"] // no string
//  ^^^^^^^^^^^ support.function
//                           ^^^^^^^^ storage.modifier
//                                     ^^^^^^ support.function
//                                            ^^ variable.language
//                                                 ^^^^ constant.numeric
//                                                       ^^^ constant.numeric
//                                                                 ^^^^^^ storage.modifier
//                                                                          ^ variable.other
//                                                                              ^^^^^^^^^^^^ comment
  }
  tally.dep "add" -> "load" war at "A" = -2
//^^^^^^^^^ support.function
//                ^^ keyword.operator
//                          ^^^ storage.modifier
//                              ^^ storage.modifier
//                                       ^^ constant.numeric
}
tally.code @pipeline strategy "manual" {
    tally.set "r1" = "r0" gt 2
//  ^^^^^^^^^ support.function
//                 ^ keyword.operator
//                        ^^ keyword.operator.word
    tally.issue "load" waits "s" >= "r1" for [0] signals "t" by 16
//  ^^^^^^^^^^^ support.function
//                     ^^^^^ storage.modifier
//                               ^^ keyword.operator
//                                       ^^^ storage.modifier
//                                               ^^^^^^^ storage.modifier
//                                                           ^^ storage.modifier
}
