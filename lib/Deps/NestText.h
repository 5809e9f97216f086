//===- NestText.h - The sets of a question, as text -------------------------===//
//
// The sets of points (d, c, u, w, s, t, n) by which Distances.h answers, as isl reads them.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DEPS_NESTTEXT_H
#define TALLY_LIB_DEPS_NESTTEXT_H

#include "Distances.h"

namespace tally {

/// All points at which the two conflict.
std::string conflictsText(const PairNest &nest);

/// The pairs (d, c) that a wait at this distance covers.
std::string coveredText(const PairNest &nest, const std::vector<int64_t> &distance);

/// All consumers that wait at this distance, with the runs of the producer that may be the last
/// they wait for.
std::string lastWaitedForText(const PairNest &nest, const std::vector<int64_t> &distance);

/// A relation from a consumer and a run of the producer to those conflicts that make an earlier or
/// the same consumer wait for this run or a later one. Empty if none is known.
std::string justifiedText(const PairNest &nest);

} // namespace tally

#endif // TALLY_LIB_DEPS_NESTTEXT_H
