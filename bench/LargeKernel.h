//===- LargeKernel.h - Kernels of any size, for timing --------------------===//
#ifndef TALLY_BENCH_LARGEKERNEL_H
#define TALLY_BENCH_LARGEKERNEL_H

#include "tally/Model/Kernel.h"

namespace tally::bench {

/// A legal kernel of `numInstrs` instructions and as many dependences on five queues: one loop for
/// every 90 instructions, up to six deep, run-time trips. Both ends of a dependence lie near each
/// other in the text, as they do in real kernels; two in three are carried by a loop.
Kernel largeKernel(size_t numInstrs, uint64_t seed);

} // namespace tally::bench

#endif // TALLY_BENCH_LARGEKERNEL_H
