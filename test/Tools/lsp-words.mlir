// The server knows every word of the language: of a text that has all of them, of kernels, and of code.
// RUN: tally compile %source_dir/kernels/matmul.mlir --sync=barrier -o %t.barrier.mlir
// RUN: tally compile %source_dir/kernels/block_sparse.mlir --sync=auto -o %t.auto.mlir
// RUN: tally kernels emit flash_attention --manual -o %t.manual.mlir
// RUN: %python %S/Inputs/lsp-words.py %s %source_dir/fuzz/corpus/text/everything.mlir %source_dir/docs/gallery/causal/causal.mlir %t.barrier.mlir %t.auto.mlir %t.manual.mlir
tally.kernel @k reserves [0, 1] {
  tally.engine "e" weight 2 split from "k.py" line 3 column 5 queues ["q" whole] reserves [3]
  tally.buffer "X" shape [2] type "f32" space "sbuf" at 0
  tally.buffer "Y" alias ["X"]
  tally.buffer "Z" noalias ["X", "Y"]
  tally.buffer "R" shape [2] ring min 1 max 4
  tally.loop "A" trips 4 unroll full sync "per-loop" {
    tally.loop "B" trips = "A + 1" {
      tally.instr "a" on "q" or ["e"] op "o" computes "r0 + r1" reads ["X"] writes ["Y"] accumulates ["Z"] semaphore 7
    }
    tally.loop "C" trips "n" min 1 max 2 divergent { }
    tally.loop "D" while "more" { }
    tally.if "c" when "A > 0 and A < $m" { }
  }
  tally.dep "a" -> "a" flat 2 semaphore 7
}
