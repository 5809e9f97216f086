//===- AddManyLoop.cpp - Iterations, and no more --------------------------===//
//
//   for i:  vector  c[i] := a[i] + b[i]
//           scalar  d[i] := c[i]
//
// Tiles of four columns take as long as an instruction must take at least, and all arrays have room
// for every iteration: what is measured is the loop.
//===----------------------------------------------------------------------===//

#include "Kernels.h"

namespace tally {

using namespace kernels;

WrittenKernel kernels::addManyLoop(KernelSize size) {
  uint64_t iterations = size == KernelSize::Paper ? 10000 : 5;
  KernelAuthor k("add_many_loop");
  EngineId vector = k.engine("vector");
  EngineId scalar = k.engine("scalar");
  for (const char *name : {"a", "b", "c", "d"}) {
    k.buffer(name, {128, 4 * iterations}, "sbuf", "bf16");
  }
  InstrId add;
  InstrId copy;
  k.loop("i", iterations, [&] {
    add = k.op(vector, "add", "tensor_tensor.1x(n=4)",
               {.reads = {"a[0:128, 4*i:4]", "b[0:128, 4*i:4]"},
                .writes = {"c[0:128, 4*i:4]"},
                .computes = "r0 + r1"});
    copy = k.op(scalar, "copy", "activation(n=4)",
                {.reads = {"c[0:128, 4*i:4]"}, .writes = {"d[0:128, 4*i:4]"}, .computes = "r0"});
  });
  k.raw(add, copy);
  return finished(k);
}

} // namespace tally
