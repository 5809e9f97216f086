//===- LoopsAlike.h - Loops that run equally often -----------------------===//
//
// Whenever they are entered, in one run of the kernel: `trips 8` here and there, or `trips = "$n"`
// here and there. So each of them touches the same elements `X[loop + 1]`, or none of them does.
// Trips of the form `trips "n"` may differ from entry to entry, and make no loops alike.
//
// Two loops of which one is inside the other are not alike: a place that both touch would be
// touched in all iterations of the inner one.
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DEPS_LOOPSALIKE_H
#define TALLY_LIB_DEPS_LOOPSALIKE_H

#include "tally/Model/Kernel.h"

namespace tally::deps {

/// For each body the first one that is like it, which may be itself.
using LoopsAlike = IdVector<LoopId, LoopId>;

LoopsAlike loopsAlike(const Kernel &kernel);

} // namespace tally::deps

#endif // TALLY_LIB_DEPS_LOOPSALIKE_H
