//===- FewRuns.cpp - The same answers, run by run ---------------------------===//

#include "FewRuns.h"

#include "NestText.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace tally::deps {

static int64_t product(std::span<const int64_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), int64_t{1}, std::multiplies<>());
}

/// The iterations of a run, outermost first.
static std::vector<int64_t> iterationsOf(int64_t run, std::span<const int64_t> counts) {
  std::vector<int64_t> iterations(counts.size());
  for (size_t level = counts.size(); level-- > 0; run /= counts[level]) {
    iterations[level] = run % counts[level];
  }
  return iterations;
}

bool FewRuns::areFew(const PairNest &nest) {
  const uint64_t mostPairs = uint64_t{1} << (nest.levels.size() == 1 ? 20 : 18);
  bool isPlain = !nest.levels.empty() && nest.producerOwn.empty() && nest.consumerOwn.empty() &&
                 nest.counters.empty() && nest.lengths.empty() && nest.values.empty() &&
                 !nest.consumerSkips && !nest.producerSkips && nest.vague == Excess::None;
  uint64_t numPairs = 1;
  for (size_t level = 0; level < nest.levels.size() && isPlain; ++level) {
    for (const Extent &extent : {nest.levels[level].producer, nest.levels[level].consumer}) {
      isPlain = isPlain && extent.isConstant() && *extent.max > 0 && *extent.max <= mostPairs;
      numPairs *= isPlain ? *extent.max : 0;
      isPlain = isPlain && numPairs <= mostPairs;
    }
  }
  return isPlain;
}

FewRuns::FewRuns(const PairNest &nest) : nest(nest) {
  for (const PairNest::Level &level : nest.levels) {
    producers.push_back(static_cast<int64_t>(*level.producer.max));
    consumers.push_back(static_cast<int64_t>(*level.consumer.max));
  }
}

std::optional<FewRuns> FewRuns::of(IslContext &context, const PairNest &nest) {
  if (!areFew(nest)) {
    return std::nullopt;
  }
  FewRuns few(nest);
  return few.look(context) ? std::optional(std::move(few)) : std::nullopt;
}

bool FewRuns::look(IslContext &context) {
  IslSet set = context.parse(NestText(nest).conflicts());
  std::optional<IslPoints> points = context.gaveUp() ? std::nullopt : set.points();
  if (!points) {
    return false;
  }
  const size_t numLevels = producers.size();
  Vector point(2 * numLevels); // distances, and the consumer's iterations
  for (int64_t consumer = 0; consumer < product(consumers); ++consumer) {
    Vector iterations = iterationsOf(consumer, consumers);
    std::ranges::copy(iterations, point.begin() + static_cast<ptrdiff_t>(numLevels));
    bool isFirst = consumer % consumers.back() == 0;
    int64_t last = isFirst ? noRun : needed.back();
    const auto first = static_cast<ptrdiff_t>(conflicts.size());
    for (int64_t producer = product(producers); producer-- > 0;) {
      int64_t left = producer;
      for (size_t level = numLevels; level-- > 0; left /= producers[level]) {
        point[level] = iterations[level] - left % producers[level];
      }
      if (points->contain(point)) {
        conflicts.push_back({producer, consumer});
        last = std::max(last, producer);
        if (numLevels == 1) {
          break; // what waits for it waits for all before
        }
      }
    }
    std::reverse(conflicts.begin() + first, conflicts.end());
    needed.push_back(last);
  }
  return !points->areTooLarge() && !context.gaveUp();
}

//===----------------------------------------------------------------------===//
// Distances
//===----------------------------------------------------------------------===//

std::optional<Distances> FewRuns::distances(size_t most) const {
  Distances result;
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

/// Whether a distance that so begins says nothing about the levels from `level` on.
static bool endsBefore(const PairNest &nest, size_t level, std::span<const int64_t> distance) {
  return level >= nest.unpaired &&
         std::ranges::any_of(distance.first(nest.pairedFrom), [](int64_t on) { return on != 0; });
}

FewRuns::Vector FewRuns::smallestDistance(std::span<const Conflict> left) const {
  Vector smallest;
  for (const Conflict &conflict : left) {
    Vector distance = iterationsOf(conflict.consumer, consumers);
    Vector producer = iterationsOf(conflict.producer, producers);
    std::ranges::transform(distance, producer, distance.begin(), std::minus<>());
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
  return {std::move(distance), iterationsOf(found->producer, producers),
          iterationsOf(found->consumer, consumers)};
}

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

/// The iterations up to which it waits; none before enough of them have passed.
std::optional<FewRuns::Vector> FewRuns::target(const Wait &wait, int64_t consumer) const {
  Vector target = iterationsOf(consumer, consumers);
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
  return upTo && iterationsOf(conflict.producer, producers) <= *upTo;
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
    Vector consumer = iterationsOf(conflict.consumer, consumers);
    Vector producer = iterationsOf(conflict.producer, producers);
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
