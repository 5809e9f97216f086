//===- Repeats.h - After how many iterations two tiles are as before --------===//
//
// Two instructions whose tiles come again after P iterations of the outermost loop, whatever the
// loops inside do: where both stand within P says whether two of their runs conflict. So a run that
// has P iterations behind it needs some run of the last P of them, or none of any; and P iterations
// later, the same is needed, P iterations later. What is needed by a run or by one before it, which
// is what waits ask for, goes on like this from the second P on.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DEPS_REPEATS_H
#define TALLY_LIB_DEPS_REPEATS_H

#include "PairNest.h"

namespace tally::deps {

/// All that is looked at, in periods: two until all is as it was one before, and two that show it.
inline constexpr uint64_t periodsLookedAt = 4;

/// The number of entries of the body `counted` after which each tile is as it was. The body is
/// around both, and in no loop that is not counted with it. 0: it is not known, or more than can be
/// looked at.
uint64_t repeatsOf(std::span<const TilePair> pairs, LoopId counted);

} // namespace tally::deps

#endif // TALLY_LIB_DEPS_REPEATS_H
