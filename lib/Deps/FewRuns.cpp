//===- FewRuns.cpp - The same answers, run by run ---------------------------===//

#include "FewRuns.h"

#include "Repeats.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace tally::deps {

static int64_t product(std::span<const int64_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), int64_t{1}, std::multiplies<>());
}

/// The iterations of all runs, one run after the other; of each, outermost first.
static std::vector<int64_t> iterationsOfAll(std::span<const int64_t> counts) {
  std::vector<int64_t> all(static_cast<size_t>(product(counts)) * counts.size());
  for (size_t run = 0, at = 0; at < all.size(); ++run, at += counts.size()) {
    auto left = static_cast<int64_t>(run);
    for (size_t level = counts.size(); level-- > 0; left /= counts[level]) {
      all[at + level] = left % counts[level];
    }
  }
  return all;
}

/// Of a nest of one level, runs in each iteration of the loop that repeats.
static uint64_t runsOfTurn(const PairNest &nest, bool ofProducer) {
  bool isTurn = nest.turn && nest.levels.size() == 1;
  return !isTurn ? 1 : ofProducer ? nest.turn->producerRuns : nest.turn->consumerRuns;
}

/// How many runs there are on a level, or are enough to know all others; none if that is not known.
static std::optional<uint64_t> runsLookedAt(const PairNest &nest, size_t level, bool ofProducer) {
  const Extent &extent = ofProducer ? nest.levels[level].producer : nest.levels[level].consumer;
  uint64_t most = extent.max.value_or(UINT64_MAX);
  uint64_t enough = UINT64_MAX;
  bool repeats = level == 0 && nest.repeats != 0 && extent.formula.empty() &&
                 !__builtin_mul_overflow(periodsLookedAt * nest.repeats,
                                         runsOfTurn(nest, ofProducer), &enough);
  return repeats               ? std::optional(std::min(most, enough))
         : extent.isConstant() ? extent.max
                               : std::nullopt;
}

uint64_t FewRuns::numPairs(const PairNest &nest) {
  bool isPlain = !nest.levels.empty() && nest.isToldByLevels() && !nest.consumerSkips &&
                 !nest.producerSkips && nest.vague == Excess::None;
  uint64_t number = isPlain ? 1 : 0;
  for (size_t level = 0; level < nest.levels.size(); ++level) {
    for (bool ofProducer : {true, false}) {
      uint64_t runs = runsLookedAt(nest, level, ofProducer).value_or(0);
      number *= runs <= mostPairs ? runs : 0;
      number = number <= mostPairs ? number : 0;
    }
  }
  return number;
}

FewRuns::FewRuns(const PairNest &nest) : nest(nest) {
  for (size_t level = 0; level < nest.levels.size(); ++level) {
    producers.push_back(static_cast<int64_t>(*runsLookedAt(nest, level, true)));
    consumers.push_back(static_cast<int64_t>(*runsLookedAt(nest, level, false)));
  }
  ofProducers = iterationsOfAll(producers);
  ofConsumers = iterationsOfAll(consumers);
}

std::optional<FewRuns> FewRuns::of(const PairNest &nest, uint64_t &numLookedAt) {
  FewRuns few(nest);
  bool isGood = few.look();
  numLookedAt += few.numLookedAt;
  return isGood ? std::optional(std::move(few)) : std::nullopt;
}

/// What it says of pairs of runs is not known where numbers are too large.
bool FewRuns::look() {
  std::optional<PointText> overlap = PointText::of(nest.overlap, producers.size());
  if (!overlap) {
    return false;
  }
  const std::vector<Vector> fromProducer = toldBy(*overlap, true);
  const std::vector<Vector> fromConsumer = toldBy(*overlap, false);
  lookAtAll([&](int64_t producer, int64_t consumer) {
    return overlap->holds(fromProducer[static_cast<size_t>(producer)],
                          fromConsumer[static_cast<size_t>(consumer)]);
  });
  numLookedAt += overlap->numTried();
  return !overlap->areTooLarge();
}

/// By each run of one of the two.
std::vector<std::vector<int64_t>> FewRuns::toldBy(PointText &text, bool isProducer) const {
  std::vector<Vector> all;
  const int64_t end = product(isProducer ? producers : consumers);
  all.reserve(static_cast<size_t>(end));
  for (int64_t run = 0; run < end; ++run) {
    all.push_back(text.ofRun(isProducer, isProducer ? ofProducer(run) : ofConsumer(run)));
  }
  return all;
}

/// Of the pairs whose producer's run comes first, those that conflict.
template <typename Conflicts> void FewRuns::lookAtAll(Conflicts &&conflict) {
  const auto ordering = std::min<size_t>(producers.size(), nest.unpaired);
  const int64_t producersInside = product(std::span(producers).subspan(ordering));
  const int64_t consumersInside = product(std::span(consumers).subspan(ordering));
  for (int64_t consumer = 0; consumer < product(consumers); ++consumer) {
    bool isFirst = consumer % consumers.back() == 0;
    int64_t last = isFirst ? noRun : needed.back();
    const auto first = static_cast<ptrdiff_t>(conflicts.size());
    // On the levels that order them, which are the same for both.
    const int64_t end =
        (consumer / consumersInside + (nest.zeroIsOrdered ? 1 : 0)) * producersInside;
    for (int64_t producer = end; producer-- > 0;) {
      ++numLookedAt;
      if (conflict(producer, consumer)) {
        conflicts.push_back({producer, consumer});
        last = std::max(last, producer);
        if (producers.size() == 1) {
          break; // what waits for it waits for all before
        }
      }
    }
    std::reverse(conflicts.begin() + first, conflicts.end());
    needed.push_back(last);
  }
}

/// How far apart its iterations are on each level.
FewRuns::Vector FewRuns::distanceOf(const Conflict &conflict) const {
  Vector distance(producers.size());
  std::ranges::transform(ofConsumer(conflict.consumer), ofProducer(conflict.producer),
                         distance.begin(), std::minus<>());
  return distance;
}

//===----------------------------------------------------------------------===//
// Distances
//===----------------------------------------------------------------------===//

std::optional<Distances> FewRuns::distances(size_t most) const {
  Distances result;
  if (runsOfTurn(nest, true) != runsOfTurn(nest, false) && areMore()) {
    if (!conflicts.empty()) { // they draw apart, so no distance is the smallest
      const auto &[producer, consumer] = conflicts.front();
      result.list.push_back({{wholeLevel}, {producer}, {consumer}});
      result.excess = Excess::Varies;
    }
    return result;
  }
  std::vector<Conflict> left = conflicts;
  while (!left.empty()) {
    if (result.list.size() == most) {
      return std::nullopt;
    }
    Vector distance = smallestDistance(left);
    std::erase_if(left, [&](const Conflict &conflict) { return covers({distance}, conflict); });
    result.list.push_back(withExample(std::move(distance)));
  }
  for (const Distances::One &one : result.list) {
    if (!isExact({one.components})) {
      result.excess = Excess::Varies;
    }
  }
  return result;
}

/// Whether there are more runs than are looked at.
bool FewRuns::areMore() const {
  const std::optional<uint64_t> &max = nest.levels[0].consumer.max;
  return !max || *max > static_cast<uint64_t>(consumers[0]);
}

/// Whether a distance that so begins says nothing about the levels from `level` on.
static bool endsBefore(const PairNest &nest, size_t level, std::span<const int64_t> distance) {
  return level >= nest.unpaired &&
         std::ranges::any_of(distance.first(nest.pairedFrom), [](int64_t on) { return on != 0; });
}

FewRuns::Vector FewRuns::smallestDistance(std::span<const Conflict> left) const {
  Vector smallest;
  for (const Conflict &conflict : left) {
    Vector distance = distanceOf(conflict);
    for (size_t level = nest.unpaired; level < distance.size(); ++level) {
      distance[level] = endsBefore(nest, level, distance) ? wholeLevel : distance[level];
    }
    smallest = smallest.empty() ? distance : std::min(smallest, distance);
  }
  return smallest;
}

/// The first consumer that conflicts at this distance, and the first producer for it.
Distances::One FewRuns::withExample(Vector distance) const {
  auto found = std::ranges::find_if(conflicts, [&](const Conflict &conflict) {
    return smallestDistance({&conflict, 1}) == distance;
  });
  Run producer = ofProducer(found->producer), consumer = ofConsumer(found->consumer);
  return {std::move(distance), Vector(producer.begin(), producer.end()),
          Vector(consumer.begin(), consumer.end())};
}

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

/// The iterations up to which it waits; none before enough of them have passed.
std::optional<FewRuns::Vector> FewRuns::target(const Wait &wait, int64_t consumer) const {
  Run iterations = ofConsumer(consumer);
  Vector target(iterations.begin(), iterations.end());
  for (size_t level = 0; level < target.size(); ++level) {
    const int64_t distance = wait.distance[level];
    if (wait.table && level + 1 == target.size()) {
      target[level] = wait.table->at(target[level]);
    } else {
      target[level] = distance == wholeLevel ? INT64_MAX : target[level] - distance;
    }
    bool mayNotBe = distance > 0 || (wait.table && level + 1 == target.size());
    if (mayNotBe && target[level] < 0) {
      return std::nullopt;
    }
  }
  return target;
}

bool FewRuns::covers(const Wait &wait, const Conflict &conflict) const {
  std::optional<Vector> upTo = target(wait, conflict.consumer);
  return upTo && !std::ranges::lexicographical_compare(*upTo, ofProducer(conflict.producer));
}

/// The last run of the producer that is not later than these iterations; below 0: none.
int64_t FewRuns::lastUpTo(const Vector &target) const {
  int64_t run = 0;
  for (size_t level = 0; level < target.size(); ++level) {
    const int64_t inside = product(std::span(producers).subspan(level + 1));
    if (target[level] < 0) {
      return run - 1;
    }
    if (target[level] >= producers[level]) {
      return run + producers[level] * inside - 1;
    }
    run += target[level] * inside;
  }
  return run;
}

/// Whether each run needs the last one that it waits for, or one before it in the same run of the
/// innermost loop does.
bool FewRuns::isExact(const Wait &wait) const {
  for (int64_t consumer = 0; consumer < static_cast<int64_t>(needed.size()); ++consumer) {
    std::optional<Vector> upTo = target(wait, consumer);
    int64_t last = upTo ? lastUpTo(*upTo) : -1;
    if (last >= 0 && needed[static_cast<size_t>(consumer)] < last) {
      return false;
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// By number on the last level, at this distance on all others.
NeededRuns FewRuns::neededAt(std::span<const int64_t> distance) const {
  NeededRuns runs(static_cast<size_t>(consumers.back()), noRun);
  for (const Conflict &conflict : conflicts) {
    Run consumer = ofConsumer(conflict.consumer), producer = ofProducer(conflict.producer);
    bool isAt = true;
    for (size_t level = 0; level + 1 < distance.size() && isAt; ++level) {
      isAt = consumer[level] - producer[level] == distance[level];
    }
    int64_t &run = runs[static_cast<size_t>(consumer.back())];
    run = isAt ? std::max(run, producer.back()) : run;
  }
  for (size_t run = 1; run < runs.size(); ++run) {
    runs[run] = std::max(runs[run], runs[run - 1]);
  }
  return runs;
}

TableAnswer FewRuns::table(const Distances &distances, size_t which) const {
  const Vector &distance = distances.list[which].components;
  TableAnswer table = periodOf(nest, neededAt(distance));
  if (!table) {
    return table;
  }
  const Wait wait{distance, &*table};
  auto isCovered = [&](const Conflict &conflict) {
    bool isByOther = false;
    for (size_t i = 0; i < distances.list.size() && !isByOther; ++i) {
      isByOther = i != which && covers({distances.list[i].components}, conflict);
    }
    return isByOther || covers(wait, conflict);
  };
  bool isRight = std::ranges::all_of(conflicts, isCovered) && isExact(wait);
  return isRight ? table : std::nullopt;
}

} // namespace tally::deps
