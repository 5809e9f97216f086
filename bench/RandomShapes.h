//===- RandomShapes.h - Random kernels of any size ------------------------===//
//
// What a search for the worst time per instruction draws: how many engines, queues and buffers; how
// bodies nest, branch and follow one another; and, for each kernel, a few of these ways to touch
// memory:
//
//   slot     one of some constant slots           X[17]
//   box      some elements                        X[120:9]
//   ring     a slot of a ring, of its own length  X[8 * ((A + 1) mod 3) + 40:8]
//   moving   what moves on with a loop            X[16 * A + 3:8]
//   strided  every so-manieth element             X[5:9:4]
//   corner   a box of two dimensions              Y[3:4, 100:50]
//   all      a buffer                             Z
//===----------------------------------------------------------------------===//

#ifndef TALLY_BENCH_RANDOMSHAPES_H
#define TALLY_BENCH_RANDOMSHAPES_H

#include "tally/Model/Kernel.h"

#include <string>

namespace tally::bench {

struct RandomShape {
  Kernel kernel;
  std::string what; ///< what was drawn, in a line
};

/// The same seed draws the same choices at any size.
RandomShape randomShape(uint64_t seed, size_t numInstrs);

} // namespace tally::bench

#endif // TALLY_BENCH_RANDOMSHAPES_H
