//===- Strategy.cpp - The strategies by name ------------------------------===//

#include "tally/Model/Strategy.h"

namespace tally {

bool countsAtRunTime(Strategy strategy) {
  return strategy == Strategy::PerInstruction || strategy == Strategy::PerLoop ||
         strategy == Strategy::PerEngine || strategy == Strategy::Auto;
}

std::vector<std::string> strategyNames() {
  std::vector<std::string> names = allWords<Strategy>();
  std::erase(names, toString(Strategy::Ideal));
  return names;
}

} // namespace tally
