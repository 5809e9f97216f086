//===- Anchors.h - Where a value stands still, seen from a consumer -------===//
//
// The inputs of an expression change at the entry of some loops around its consumer, and in
// statements beside it. The innermost body in which any of them changes is the *anchor*; within
// it, the last statement before the consumer that changes one opens an *epoch*. Expression,
// anchor and epoch identify a value.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_LOWER_ANCHORS_H
#define TALLY_LIB_LOWER_ANCHORS_H

#include "tally/Sync/Plan.h"

namespace tally {

struct Anchor {
  uint32_t depth = 0; ///< of the body: the one at this depth around the consumer
  uint32_t epoch = 0; ///< 2s + 2: changes in statement s; 2s + 1: as s begins; 0: with the body

  bool operator==(const Anchor &) const = default;
};

/// Where something stands still that has both for inputs.
Anchor later(Anchor a, Anchor b);

/// Where a counter stands still. The same for all consumers of one block.
Anchor anchorOfLeaf(const Kernel &kernel, const SyncPlan &plan, const Expr &leaf, InstrId consumer);

} // namespace tally

#endif // TALLY_LIB_LOWER_ANCHORS_H
