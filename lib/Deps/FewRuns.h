//===- FewRuns.h - The same answers, run by run -----------------------------===//
//
// Two instructions with few runs each, whose numbers are all that there is: instead of asking isl
// about sets (Distances.cpp), each pair of runs is looked at. It says the same, and is never
// undecided. Where tiles come again (Repeats.h), a few periods are looked at instead of all runs,
// and stand for any number of trips.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DEPS_FEWRUNS_H
#define TALLY_LIB_DEPS_FEWRUNS_H

#include "Distances.h"
#include "Period.h"
#include "PointText.h"

#include <span>

namespace tally::deps {

class FewRuns {
public:
  /// How many pairs there are to look at: of runs with numbers, where nothing else decides where
  /// they meet. 0: that is not so, or they are more than `mostPairs`.
  static uint64_t numPairs(const PairNest &nest);

  /// Looking at them takes a tenth of a second.
  static constexpr uint64_t mostPairs = uint64_t{1} << 21;

  /// Of a nest with pairs to look at; none where numbers are too large. Adds how many it has looked
  /// at.
  static std::optional<FewRuns> of(const PairNest &nest, uint64_t &numLookedAt);

  /// None if there are more than `most`.
  std::optional<Distances> distances(size_t most) const;

  /// Of one of the distances, as of isl.
  TableAnswer table(const Distances &distances, size_t which) const;

private:
  using Vector = std::vector<int64_t>;
  using Run = std::span<const int64_t>; ///< its iterations

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

  bool look();
  std::vector<Vector> toldBy(PointText &text, bool isProducer) const;
  uint64_t numLookedAt = 0;
  template <typename Conflicts> void lookAtAll(Conflicts &&conflict);
  Vector distanceOf(const Conflict &conflict) const;
  bool areMore() const;
  Vector smallestDistance(std::span<const Conflict> left) const;
  Distances::One withExample(Vector distance) const;
  std::optional<Vector> target(const Wait &wait, int64_t consumer) const;
  bool covers(const Wait &wait, const Conflict &conflict) const;
  bool isExact(const Wait &wait) const;
  int64_t lastUpTo(const Vector &target) const;
  NeededRuns neededAt(std::span<const int64_t> distance) const;

  Run ofProducer(int64_t run) const {
    return Run(ofProducers).subspan(static_cast<size_t>(run) * producers.size(), producers.size());
  }

  Run ofConsumer(int64_t run) const {
    return Run(ofConsumers).subspan(static_cast<size_t>(run) * consumers.size(), consumers.size());
  }

  const PairNest &nest;
  Vector producers; ///< runs on each level
  Vector consumers;
  Vector ofProducers; ///< the iterations of each run
  Vector ofConsumers;
  std::vector<Conflict> conflicts; ///< by consumer, then producer; on one level, the last ones
  Vector needed;                   ///< by each run of the consumer and those before, last level
};

} // namespace tally::deps

#endif // TALLY_LIB_DEPS_FEWRUNS_H
