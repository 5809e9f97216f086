//===- RandomAccesses.h - Small kernels that touch memory, from a seed ----===//
//
// At most six instructions under at most three loops and branches, and what they touch
// (RandomTiles.h).
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_UNITTESTS_DEPS_RANDOMACCESSES_H
#define TALLY_UNITTESTS_DEPS_RANDOMACCESSES_H

#include "RandomKernel.h"

#include <functional>
#include <map>

namespace tally::oracle {

/// The kernel of this seed; without dependences.
Kernel randomAccesses(uint64_t seed, fuzz::Tiles tiles = fuzz::Tiles::Inside);

/// How often each loop and branch runs each time it is reached: `shortest` and `longest` are the
/// limits for loops whose trips are not constant.
std::function<uint64_t(LoopId, uint64_t)> randomTrips(const Kernel &kernel, uint64_t seed,
                                                      uint64_t shortest, uint64_t longest);

/// The values of its formulas, within the same limits.
std::map<std::string, int64_t> randomValues(const Kernel &kernel, uint64_t seed, uint64_t shortest,
                                            uint64_t longest);

} // namespace tally::oracle

#endif // TALLY_UNITTESTS_DEPS_RANDOMACCESSES_H
