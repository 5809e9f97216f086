//===- RunTable.cpp - Which run each run needs, where that has a period -----===//

#include "tally/Model/RunTable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tally {

std::vector<RunTable::Step> RunTable::steps() const {
  std::vector<Step> steps;
  for (auto number = int64_t(1); number <= static_cast<int64_t>(runs.size()); ++number) {
    if (int64_t by = at(number) - at(number - 1); by != 0) {
      steps.push_back({number, by});
    }
  }
  return steps;
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

std::string toString(const RunTable &table) {
  return fmt::format("[{}] each {}", fmt::join(table.runs, ", "), table.each);
}

} // namespace tally
