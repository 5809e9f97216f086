//===- FurnishedKernel.h - Random kernels with buffers, tiles, operations -===//
#ifndef TALLY_UNITTESTS_TRANSFORMS_FURNISHEDKERNEL_H
#define TALLY_UNITTESTS_TRANSFORMS_FURNISHEDKERNEL_H

#include "tally/Model/Kernel.h"

namespace tally::oracle {

/// A random kernel with what the generator leaves out: operations, buffers and tiles.
Kernel furnishedKernel(uint64_t seed);

} // namespace tally::oracle

#endif // TALLY_UNITTESTS_TRANSFORMS_FURNISHEDKERNEL_H
