//===- Strategy.cpp - The strategies by name ------------------------------===//

#include "tally/Model/Strategy.h"

#include <iterator>

namespace tally {

static constexpr std::string_view strategyTable[] = {
    "barrier", "unrolled", "per-instruction", "per-loop", "per-engine", "auto", "manual", "ideal",
};

std::string_view toString(Strategy strategy) {
  return strategyTable[static_cast<size_t>(strategy)];
}

bool countsAtRunTime(Strategy strategy) {
  return strategy == Strategy::PerInstruction || strategy == Strategy::PerLoop ||
         strategy == Strategy::PerEngine || strategy == Strategy::Auto;
}

std::optional<Strategy> strategyFrom(std::string_view name) {
  for (size_t i = 0; i < std::size(strategyTable); ++i) {
    if (strategyTable[i] == name) {
      return static_cast<Strategy>(i);
    }
  }
  return std::nullopt;
}

std::vector<std::string> strategyNames() {
  std::vector<std::string> names = allStrategyNames();
  std::erase(names, toString(Strategy::Ideal));
  return names;
}

std::vector<std::string> allStrategyNames() {
  return {std::begin(strategyTable), std::end(strategyTable)};
}

} // namespace tally
