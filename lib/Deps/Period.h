//===- Period.h - The table that says what is needed ------------------------===//
//
// From what each run of a consumer needs, one after the other, the table (RunTable.h) with the
// shortest period that says so.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DEPS_PERIOD_H
#define TALLY_LIB_DEPS_PERIOD_H

#include "Distances.h"

namespace tally::deps {

/// By number of the consumer's run: the last run of the producer that it or an earlier one needs.
using NeededRuns = std::vector<int64_t>;

/// That no run is needed yet.
inline constexpr int64_t noRun = INT64_MIN;

/// None if no two of its periods are there, and not all of the runs of the nest's last level.
TableAnswer periodOf(const PairNest &nest, const NeededRuns &needed);

} // namespace tally::deps

#endif // TALLY_LIB_DEPS_PERIOD_H
