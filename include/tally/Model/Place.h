//===- Place.h - How the two ends of a dependence lie to each other -------===//
//
// The facts about a dependence that every user of it needs: legality, the
// choice of a wait value, the definition that the tests count by.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_MODEL_PLACE_H
#define TALLY_MODEL_PLACE_H

#include "tally/Model/Kernel.h"

namespace tally {

/// Which end comes first in the body that holds both.
enum class Order : uint8_t {
  SameBlock, ///< both directly in one block of the body
  Forward,   ///< the producer's statement comes first
  Backward,  ///< the consumer's statement comes first
  Opposite,  ///< in the two branches of one `if`
};

struct DepPlace {
  LoopId shared; ///< innermost body around both ends
  LoopId producerHome;
  LoopId consumerHome;
  Order order;
  /// Outermost loop with a non-zero distance, and that distance; for an
  /// all-zero distance, none and 0. For an element-wise distance the loop is
  /// the innermost real one at or around `shared`. Of two in one loop that go by a table, that loop
  /// and the shortest distance that there ever is.
  LoopId carrier;
  int64_t offset = 0;
  /// Whether a real loop lies below the carrier, down to `shared` inclusive.
  bool loopsBelowCarrier = false;

  bool producerInShared() const { return producerHome == shared; }
};

DepPlace placeOf(const Kernel &kernel, const Dep &dep);

/// The same as if the producer stood directly in a body around its own.
DepPlace placeOf(const Kernel &kernel, const Dep &dep, LoopId producerHome);

/// By body: the innermost loop or branch, at or around it, on which engines may disagree; none if
/// they agree on all.
IdVector<LoopId, LoopId> divergentLoops(const Kernel &kernel);

} // namespace tally

#endif // TALLY_MODEL_PLACE_H
