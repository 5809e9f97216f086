//===- Candidates.h - Which accesses may conflict at all ------------------===//
//
// Buffer by buffer, those that share memory together. What is known of tiles that are slots, or
// always the same, says Families.h. The rest, in the order of the text: a map from ranges of memory
// to those who touched them. An access asks its range for earlier ones, and is added.
//
//   W0 X[0:4]   W1 X[2:4]   R X[1:2]         [0,1): W0   [1,2): W0 R   [2,3): W0 W1 R   ...
//
// A write outside all loops whose tile is always the same is the last that matters for the
// elements it covers: what lies in it wholly is dropped. A run that needs the dropped one comes
// after the write, and conflicts with it, too; and the write itself waits for the dropped one, or
// follows it in one queue.
//
// So does, for reads there, the last one of each queue.
//
// Inside a loop everything comes again, so an unordered pair is two ordered ones there.
//
// Cost: n log n in accesses, and linear in the pairs that are found.
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DEPS_CANDIDATES_H
#define TALLY_LIB_DEPS_CANDIDATES_H

#include "Families.h"

#include <functional>

namespace tally::deps {

/// Calls `visit` for all candidates.
void forCandidates(const Kernel &kernel, const TileBoxes &tiles,
                   const std::function<void(const Candidate &)> &visit);

} // namespace tally::deps

#endif // TALLY_LIB_DEPS_CANDIDATES_H
