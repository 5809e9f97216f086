//===- Sensitivity.cpp - Which conclusions hang on an estimate? -----------===//
//
// Every number of a machine that is not published has a range. Each is moved to both of its ends,
// alone, and the table is measured again: what stays below 1 at all of them does not hang on one
// estimate.
//===----------------------------------------------------------------------===//

#include "tally/Bench/Table.h"

#include <algorithm>

namespace tally {

static void widen(std::vector<Sensitivity> &result, const std::vector<BenchRow> &rows,
                  const std::string &setting) {
  for (const BenchRow &row : rows) {
    auto found = std::find_if(result.begin(), result.end(), [&](const Sensitivity &s) {
      return s.kernel == row.kernel && s.strategy == row.strategy;
    });
    if (found == result.end() || row.normalized == 0) {
      continue;
    }
    if (row.normalized < found->least) {
      found->least = row.normalized;
      found->leastAt = setting;
    }
    if (row.normalized > found->most) {
      found->most = row.normalized;
      found->mostAt = setting;
    }
  }
}

std::vector<Sensitivity> benchSensitivity(const BenchOptions &options, const Machine &machine,
                                          Diagnostics &diagnostics) {
  BenchOptions chosen = options;
  if (!chosen.strategies.empty()) {
    chosen.strategies.push_back({Strategy::Barrier});
  }
  std::vector<Sensitivity> result;
  for (const BenchRow &row : benchTable(chosen, machine, diagnostics)) {
    if (row.normalized != 0 && row.measured != Measured{Strategy::Barrier}) {
      result.push_back(
          {row.kernel, row.strategy, row.normalized, row.normalized, row.normalized, "", ""});
    }
  }
  for (const std::string &setting : endsOfRanges(machine)) {
    Machine changed = machine;
    std::string error = setParameter(changed, setting);
    if (!error.empty()) {
      diagnostics.error({}, error);
      break;
    }
    widen(result, benchTable(chosen, changed, diagnostics), setting);
  }
  if (isSet(options.stop)) {
    result.clear(); // no range is known before its last end
  }
  return result;
}

} // namespace tally
