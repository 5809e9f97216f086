//===- NoWait.h - What an instruction need not wait for -------------------===//
//
// Conflicts that no wait of their own serves:
//
//   implied   other waits and the order of issue and retirement imply it (Implied.h)
//   in order  one queue settles it, as it runs both instructions, one after the other, or adds up
//             in order
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_DEPS_NOWAIT_H
#define TALLY_DEPS_NOWAIT_H

#include "tally/Deps/Extract.h"

#include <string>
#include <vector>

namespace tally {

struct NoWait {
  std::string dependence; ///< and what the two touch
  std::string because;
  std::vector<InstrId> behind; ///< what an engine issues first, so that the chain holds
};

/// Of a kernel whose dependences are found.
class NoWaits {
public:
  /// `found` has passed markImplied().
  NoWaits(const Kernel &kernel, const Extraction &found, bool queueOverlap, Extractor &extractor);

  std::vector<NoWait> of(InstrId consumer) const;

private:
  NoWait implied(const DerivedDep &derived) const;
  bool isInOrder(const DerivedDep &derived) const;

  const Kernel &kernel;
  const Extraction &found;
  const bool queueOverlap;
  Extraction all;                                  ///< what would be found if queues kept no order
  IdVector<InstrId, std::vector<size_t>> foundFor; ///< into found.deps
  IdVector<InstrId, std::vector<size_t>> allFor;   ///< into all.deps
};

/// The dependences that a kernel has written itself, those marked that the others imply.
Extraction writtenDeps(const Kernel &kernel);

} // namespace tally

#endif // TALLY_DEPS_NOWAIT_H
