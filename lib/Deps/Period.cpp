//===- Period.cpp - The table that says what is needed ----------------------===//

#include "Period.h"

#include <algorithm>

namespace tally::deps {

/// Of two in one loop, whether no run ever needs one that is still to come.
static bool isNeverAhead(const PairNest &nest, const RunTable &table) {
  std::optional<PairNest::Turn> turn = nest.turn;
  if (nest.levels.size() <= nest.unpaired) {
    turn = {.isOrdered = nest.zeroIsOrdered};
  }
  return !turn ||
         table.iterationsBack(turn->producerRuns, turn->consumerRuns) >= (turn->isOrdered ? 0 : 1);
}

/// Before the first run that needs any, the table leads to none.
static TableAnswer withPeriod(const PairNest &nest, const NeededRuns &needed, size_t period) {
  const size_t first =
      std::ranges::find_if(needed, [](int64_t run) { return run != noRun; }) - needed.begin();
  if (first == needed.size()) {
    return std::nullopt;
  }
  RunTable table;
  table.each = first + period < needed.size() ? needed[first + period] - needed[first] : 0;
  for (size_t j = 0; j < period; ++j) {
    size_t number = j;
    int64_t back = 0;
    while (number < first && number + period < needed.size()) {
      number += period;
      back += table.each;
    }
    table.runs.push_back(needed[number] == noRun ? -1 : needed[number] - back);
  }
  if (first + period >= needed.size()) { // one period is all there is
    table.each = std::max<int64_t>(table.runs.back() - table.runs.front(), 0);
  }
  bool fits = std::ranges::is_sorted(table.runs) &&
              table.runs.back() <= table.runs.front() + table.each && isNeverAhead(nest, table);
  for (size_t i = 0; i < needed.size() && fits; ++i) {
    int64_t said = table.at(static_cast<int64_t>(i));
    fits = needed[i] == noRun ? said < 0 : said == needed[i];
  }
  return fits ? TableAnswer(std::move(table)) : std::nullopt;
}

TableAnswer periodOf(const PairNest &nest, const NeededRuns &needed) {
  bool areAll = nest.levels.back().consumer.max == needed.size();
  for (size_t period = 1; period <= std::min(needed.size(), mostTableRuns); ++period) {
    if (period > needed.size() / 2 && !areAll) {
      break;
    }
    if (TableAnswer table = withPeriod(nest, needed, period)) {
      return table;
    }
  }
  return std::nullopt;
}

} // namespace tally::deps
