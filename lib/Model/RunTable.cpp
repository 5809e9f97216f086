//===- RunTable.cpp - Which run each run needs, where that has a period -----===//

#include "tally/Model/RunTable.h"

#include "tally/Support/FloorDiv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace tally {

static std::vector<RunTable::Step> stepsBeside(const RunTable &table, int64_t slope) {
  std::vector<RunTable::Step> steps;
  for (auto number = int64_t(1); number <= static_cast<int64_t>(table.runs.size()); ++number) {
    if (int64_t by = table.at(number) - table.at(number - 1) - slope; by != 0) {
      steps.push_back({number, by});
    }
  }
  return steps;
}

int64_t RunTable::slope() const {
  int64_t least = each / static_cast<int64_t>(runs.size());
  int64_t best = 0;
  for (int64_t slope : {least, least + 1}) {
    best = stepsBeside(*this, slope).size() < stepsBeside(*this, best).size() ? slope : best;
  }
  return best;
}

std::vector<RunTable::Step> RunTable::steps() const {
  return stepsBeside(*this, slope());
}

int64_t RunTable::largestRise() const {
  int64_t largest = 0;
  for (auto number = int64_t(1); number <= static_cast<int64_t>(runs.size()); ++number) {
    largest = std::max(largest, at(number) - at(number - 1));
  }
  return largest;
}

std::optional<int64_t> RunTable::firstNeeding() const {
  if (runs.back() < 0 && each == 0) {
    return std::nullopt;
  }
  // Of the periods, the first whose last run needs something.
  int64_t period = runs.back() >= 0 ? 0 : (-runs.back() + each - 1) / each;
  auto first = std::ranges::find_if(runs, [&](int64_t run) { return period * each + run >= 0; });
  return period * static_cast<int64_t>(runs.size()) + (first - runs.begin());
}

int64_t RunTable::shortestDistance() const {
  int64_t shortest = -runs[0];
  for (size_t j = 0; j < runs.size(); ++j) {
    shortest = std::min(shortest, static_cast<int64_t>(j) - runs[j]);
  }
  return shortest;
}

std::optional<int64_t> RunTable::shortestWithin(std::optional<uint64_t> mostRuns) const {
  const auto period = static_cast<int64_t>(runs.size());
  if (each <= period) {
    return shortestDistance();
  }
  if (!mostRuns || *mostRuns == 0) {
    return std::nullopt;
  }
  // They become shorter from period to period: the last one has the shortest.
  const auto end = static_cast<int64_t>(*mostRuns);
  int64_t shortest = std::numeric_limits<int64_t>::max();
  for (int64_t number = std::max<int64_t>(end - period, 0); number < end; ++number) {
    shortest = std::min(shortest, number - at(number));
  }
  return shortest;
}

int64_t RunTable::iterationsBack(uint64_t producerRuns, uint64_t consumerRuns) const {
  const auto producers = static_cast<int64_t>(producerRuns);
  const auto consumers = static_cast<int64_t>(consumerRuns);
  const auto period = static_cast<int64_t>(runs.size());
  // After so many iterations, both the period and the iteration begin again.
  const int64_t iterations = period / std::gcd(period, consumers);
  if (each * (iterations * consumers / period) > iterations * producers) {
    return std::numeric_limits<int64_t>::min();
  }
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int64_t i = 0; i < iterations; ++i) {
    int64_t last = at((i + 1) * consumers - 1);
    least = std::min(least, i - floorDiv(last, producers));
  }
  return least;
}

std::string toString(const RunTable &table) {
  return fmt::format("[{}] each {}", fmt::join(table.runs, ", "), table.each);
}

} // namespace tally
