//===- RunsTo.h - Trips with which two are where they touch the same ------===//
//
// Where two instructions touch the same memory is known (Deps/Encounter.h). Which runs come there?
//
//   uniform   every loop around the two runs equally often at each entry: as often as it must
//   by entry  loops run as seldom as they may, but at the entries on the way to the two; and before
//             these, where a tile counts entries over the whole run
//
// Both are proposals: Meetings.h says whether the two meet in a run.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_CHECK_RUNSTO_H
#define TALLY_LIB_CHECK_RUNSTO_H

#include "tally/Deps/Encounter.h"

#include <array>
#include <map>
#include <vector>

namespace tally::check {

/// By loop, and branch that is taken (1) or not (0): how often it runs, entry after entry.
using TripsByEntry = std::map<LoopId, std::vector<uint64_t>>;

/// What to try first comes first. `homes`: the bodies of the two.
std::vector<TripsByEntry> tripsTo(const Kernel &kernel, const Encounter &place,
                                  std::array<LoopId, 2> homes);

} // namespace tally::check

#endif // TALLY_LIB_CHECK_RUNSTO_H
