//===- Shapes.h - Kernels of any size, as others would choose them --------===//
//
// What instructions touch (the *pattern*), and where they stand (the *nest*):
//
//   stages    load, compute, store in turn; four constant slots a stage, one destination
//   slots     each reads and writes one of 256 constant slots, at random
//   rings     each reads and writes a slot of one of 16 rings of four, or one of 64 constant slots
//   boxes     each reads and writes some of 1,024 elements; boxes lie partly over one another
//   strips    each reads and writes one of 64 buffers, which share bytes of some partitions
//   fresh     each writes a slot of its own and reads two of the last 64
//   packed    one writes a ring of two, the next reads it; all rings lie in one buffer
//   halves    each reads and writes one of 64 buffers, where the element moves on in every second
//             iteration
//   rows      each reads and writes a row of one of 64 buffers; loops go through these
//
//   straight  no loop
//   loop      one loop whose trips only the run knows
//   nest2     two loops, a third of the instructions before, in and after the inner one
//   nest3     three loops, a fifth of the instructions in each part
//   branches  one loop; of ten instructions three are in a branch, and three in the other
//   conditions  the same, and iterations decide about the branches
//   sequence  loops of 50 iterations, a hundred instructions in each
//===----------------------------------------------------------------------===//

#ifndef TALLY_BENCH_SHAPES_H
#define TALLY_BENCH_SHAPES_H

#include "tally/Model/Kernel.h"

#include <string>
#include <string_view>
#include <vector>

namespace tally::bench {

/// Names `pattern/nest` of all shapes.
std::vector<std::string> shapeNames();

/// The kernel of one of them.
Kernel shapeNamed(std::string_view name, size_t numInstrs);

} // namespace tally::bench

#endif // TALLY_BENCH_SHAPES_H
