//===- FewRuns.h - The same answers, run by run -----------------------------===//
//
// Two instructions with few runs each, whose numbers are all that there is: instead of asking isl
// about sets (Distances.cpp), each pair of runs is looked at. It says the same, and is never
// undecided.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DEPS_FEWRUNS_H
#define TALLY_LIB_DEPS_FEWRUNS_H

#include "Distances.h"
#include "Period.h"

#include <span>

namespace tally::deps {

class FewRuns {
public:
  /// Whether both have numbers, few of them, and nothing else decides where they meet.
  static bool areFew(const PairNest &nest);

  /// None if they are not, or isl gives up.
  static std::optional<FewRuns> of(IslContext &context, const PairNest &nest);

  /// None if there are more than `most`.
  std::optional<Distances> distances(size_t most) const;

  /// Of one of the distances, as of isl.
  TableAnswer table(const Distances &distances, size_t which) const;

private:
  using Vector = std::vector<int64_t>;

  /// Runs by their numbers, in lexicographic order of their iterations.
  struct Conflict {
    int64_t producer = 0;
    int64_t consumer = 0;
  };

  /// How far back is waited for: at a distance, or on the last level by a table.
  struct Wait {
    std::span<const int64_t> distance;
    const RunTable *table = nullptr;
  };

  explicit FewRuns(const PairNest &nest);

  bool look(IslContext &context);
  Vector smallestDistance(std::span<const Conflict> left) const;
  Distances::One withExample(Vector distance) const;
  std::optional<Vector> target(const Wait &wait, int64_t consumer) const;
  bool covers(const Wait &wait, const Conflict &conflict) const;
  bool isExact(const Wait &wait) const;
  int64_t lastUpTo(const Vector &target) const;
  NeededRuns neededAt(std::span<const int64_t> distance) const;

  const PairNest &nest;
  Vector producers; ///< runs on each level
  Vector consumers;
  std::vector<Conflict> conflicts; ///< by consumer, then producer; on one level, the last ones
  Vector needed;                   ///< by each run of the consumer and those before, last level
};

} // namespace tally::deps

#endif // TALLY_LIB_DEPS_FEWRUNS_H
