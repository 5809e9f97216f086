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
// Runs are numbered in each iteration of the innermost body around both; or, where the rhythm goes
// on from one iteration to the next, in all iterations of a loop around both (`over`).
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

using LoopId = Id<struct LoopTag>;
using RunTableId = Id<struct RunTableTag>;

/// The longest period that there may be.
inline constexpr size_t mostTableRuns = 256;

struct RunTable {
  std::vector<int64_t> runs;
  int64_t each = 0;
  LoopId over = {}; ///< none: in each iteration of the innermost body around both

  int64_t at(int64_t number) const {
    auto period = static_cast<int64_t>(runs.size());
    return number / period * each + runs[static_cast<size_t>(number % period)];
  }

  /// How many more runs a run mostly needs than the one before it: what leaves the fewest steps.
  int64_t slope() const;

  /// How many more than that some run needs: from run `at` on, in every period. Fewer, if negative.
  struct Step {
    int64_t at = 0; ///< from 1 to the period
    int64_t by = 0;
  };

  std::vector<Step> steps() const;

  /// The most that a run needs more than the one before it.
  int64_t largestRise() const;

  /// The first run that needs any; none if none ever does.
  std::optional<int64_t> firstNeeding() const;

  /// Of two in one loop, the shortest distance that there ever is.
  int64_t shortestDistance() const;

  /// The same for the first runs of the consumer, `mostRuns` of them (none: for any number); none
  /// if there is no shortest one.
  std::optional<int64_t> shortestWithin(std::optional<uint64_t> mostRuns) const;

  /// With these numbers of runs in each iteration of a loop, how many iterations each run that is
  /// needed lies back at least, counted on over the ends of loops around. The lowest number if, in
  /// the end, one that is still to come is needed.
  int64_t iterationsBack(uint64_t producerRuns, uint64_t consumerRuns) const;

  bool operator==(const RunTable &) const = default;
};

/// `[0, 0, 1] each 2`
std::string toString(const RunTable &table);

} // namespace tally

#endif // TALLY_MODEL_RUNTABLE_H
