//===- FewRuns.cpp - The same answers, run by run ---------------------------===//

#include "FewRuns.h"

#include "NestText.h"

#include <algorithm>

namespace tally::deps {

static int64_t runsOf(const Extent &extent) {
  return static_cast<int64_t>(*extent.max);
}

/// Whether the two have numbers, few of them, and nothing else decides where they meet.
static bool hasFewRuns(const PairNest &nest) {
  constexpr uint64_t mostRuns = 2 * mostTableRuns;
  constexpr uint64_t mostPairs = mostTableRuns * mostTableRuns;
  bool isPlain = nest.levels.size() == 1 && nest.producerOwn.empty() && nest.consumerOwn.empty() &&
                 nest.counters.empty() && nest.lengths.empty() && nest.values.empty() &&
                 !nest.consumerSkips && !nest.producerSkips && nest.vague == Excess::None;
  if (!isPlain) {
    return false;
  }
  const PairNest::Level &level = nest.levels[0];
  return level.producer.isConstant() && level.consumer.isConstant() &&
         *level.producer.max <= mostRuns && *level.consumer.max <= mostRuns &&
         *level.producer.max * *level.consumer.max <= mostPairs;
}

std::optional<FewRuns> FewRuns::of(IslContext &context, const PairNest &nest) {
  if (!hasFewRuns(nest)) {
    return std::nullopt;
  }
  FewRuns few(nest);
  return few.look(context) ? std::optional(std::move(few)) : std::nullopt;
}

bool FewRuns::look(IslContext &context) {
  IslSet conflicts = context.parse(NestText(nest).conflicts());
  std::optional<IslPoints> points = context.gaveUp() ? std::nullopt : conflicts.points();
  if (!points) {
    return false;
  }
  const PairNest::Level &level = nest.levels[0];
  for (int64_t run = 0; run < runsOf(level.consumer); ++run) {
    int64_t producer = runsOf(level.producer) - 1;
    while (producer >= 0 && !points->contain({run - producer, run})) {
      --producer;
    }
    int64_t before = needed.empty() ? noRun : needed.back();
    last.push_back(producer >= 0 ? producer : noRun);
    needed.push_back(std::max(before, last.back()));
  }
  return !points->areTooLarge();
}

Distances FewRuns::distances() const {
  Distances result;
  Distances::One shortest;
  int64_t distance = INT64_MAX;
  for (size_t i = 0; i < last.size(); ++i) {
    auto run = static_cast<int64_t>(i);
    if (last[i] != noRun && run - last[i] < distance) {
      distance = run - last[i];
      shortest = {{distance}, {last[i]}, {run}};
    }
  }
  if (shortest.components.empty()) {
    return result; // they never meet
  }
  result.list.push_back(std::move(shortest));
  for (size_t i = 0; i < needed.size(); ++i) {
    auto run = static_cast<int64_t>(i);
    int64_t waitedFor = std::min(run - distance, runsOf(nest.levels[0].producer) - 1);
    bool waits = run >= std::max<int64_t>(distance, 0);
    if (waits && needed[i] < waitedFor) {
      result.excess = Excess::Varies;
    }
  }
  return result;
}

} // namespace tally::deps
