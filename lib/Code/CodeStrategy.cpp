//===- CodeStrategy.cpp - The names that code may give of its making ------===//

#include "tally/Code/CodeStrategy.h"

#include "tally/Model/Strategy.h"
#include "tally/Support/Names.h"

#include <algorithm>

namespace tally {

std::string unknownCodeStrategy(std::string_view name) {
  std::vector<std::string> names = allStrategyNames();
  std::vector<std::string_view> known(names.begin(), names.end());
  return std::ranges::find(known, name) != known.end()
             ? std::string()
             : unknownName("strategy", "strategies", name, known);
}

} // namespace tally
