//===- Clocks.h - What dependences imply, by clocks -----------------------===//
//
// Chains from wait to wait are not searched for: the text is walked once, and each run starts with
// a clock, which says for each queue what has surely retired (Knowledge.h). It starts with the
// clock of the run that its engine issued before, and takes the latest of its waits first. If the
// clock says that the producer has retired, the wait is implied. Otherwise the clock takes over
// what the producer knew, and the producer.
//
//   for A { load;  scale;  store }        copies of the body: 1 + the largest distance on A
//
//   copy 0   load scale store             decides waits in the same iteration
//   copy 1   load scale store             decides distance 1, copy 2 distance 2
//
// One copy decides, for all iterations of all runs:
//
//   - A chain that implies a wait for iteration a - k of a loop begins in a and ends in a - k, and
//     each link goes back or stays: it uses iterations a - k to a alone. There, all of its waits
//     have enough iterations behind them as soon as a is at least k. So if there is such a chain
//     in one iteration from k on, the same, moved, is there in each; iteration k decides.
//   - Moved to a later iteration of any loop, each wait is still there: what is known only grows.
//     So iteration k of one loop and 0 of all others knows least of those that ask, and what
//     follows a loop knows least after its fewest trips. Copies past these are walked only where
//     all loops around are in their first iteration, and forgotten at the end of the loop.
//   - One run is a graph without circles: what an edge of it is implied by is earlier than it. So
//     those that are needed are the same whichever are removed first, and all are decided at once.
//
// Where paths meet (a branch, a loop of no trips) the clock is what all of them know. What both
// sides of a branch know of another queue is forgotten if neither engine saw both: that is left to
// the search (ChainSearch.h), with all that has another form (UpTo.h). Copies that change nothing
// are skipped up to the next distance.
//
// Cost: copies of all loops, added up, times instructions and waits, times queues.
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DEPS_CLOCKS_H
#define TALLY_LIB_DEPS_CLOCKS_H

#include "tally/Deps/Extract.h"

namespace tally::deps {

/// Marks what is implied. Those that are only asked about (by index; none if empty) imply nothing
/// themselves. Of a body alone, repeated without end, if it is not the whole kernel. Returns those
/// for which a search may still find a chain.
std::vector<bool> markImpliedByClocks(const Kernel &kernel, Extraction &extraction,
                                      const std::vector<bool> &isAsked = {},
                                      LoopId body = rootLoop);

} // namespace tally::deps

#endif // TALLY_LIB_DEPS_CLOCKS_H
