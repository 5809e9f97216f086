//===- RunTable.h - Which run each run needs, where that has a period -------===//
//
// Where distances change from run to run, but in a rhythm, a table says which run of the producer
// each run of the consumer needs last:
//
//   runs [0, 0, 0, 0] each 1     of every four runs, all need the same one: run q/4 for run q
//   runs [0, 1, 1, 2, 3, 3] each 6     a ring of two slots that is read as one of three
//
// Run number q * runs.size() + j needs run number q * each + runs[j], both from 0; below 0: none.
// What is needed never falls: a run that has waited has waited for all before.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_MODEL_RUNTABLE_H
#define TALLY_MODEL_RUNTABLE_H

#include "tally/Support/Id.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tally {

using RunTableId = Id<struct RunTableTag>;

/// The longest period, and the most steps in one, that there may be.
inline constexpr size_t mostTableRuns = 64;
inline constexpr size_t mostTableSteps = 8;

struct RunTable {
  std::vector<int64_t> runs;
  int64_t each = 0;

  int64_t at(int64_t number) const {
    auto period = static_cast<int64_t>(runs.size());
    return number / period * each + runs[static_cast<size_t>(number % period)];
  }

  /// How many more runs some run needs than the one before it: from run `at` on, in every period.
  struct Step {
    int64_t at = 0; ///< from 1 to the period
    int64_t by = 0;
  };

  std::vector<Step> steps() const;

  /// The first run that needs any; none if none ever does.
  std::optional<int64_t> firstNeeding() const;

  /// Of two in one loop, the shortest distance that there ever is.
  int64_t shortestDistance() const;

  bool operator==(const RunTable &) const = default;
};

/// `[0, 0, 1] each 2`
std::string toString(const RunTable &table);

} // namespace tally

#endif // TALLY_MODEL_RUNTABLE_H
