//===- Overlap.h - Buffers that share memory ------------------------------===//
//
// Buffers have names of their own, but a fixed address may put one over another. Whoever takes
// different buffers for different memory has to look first.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_MODEL_OVERLAP_H
#define TALLY_MODEL_OVERLAP_H

#include "tally/Model/Kernel.h"

namespace tally {

/// Two buffers of one memory space; `high` begins before `low` ends.
struct Overlap {
  BufferId low;
  BufferId high;
};

/// For each buffer with an address that lies over one which begins before it, such a pair. `bytes`
/// is how large each buffer is.
std::vector<Overlap> findOverlaps(const Kernel &kernel, const IdVector<BufferId, uint64_t> &bytes);

} // namespace tally

#endif // TALLY_MODEL_OVERLAP_H
