//===- Request.cpp - What is asked of compilation -------------------------===//

#include "tally/Compile/Request.h"

namespace tally {

static constexpr std::string_view overflowTable[] = {"reset", "refuse", "assume"};

std::string_view toString(Overflow overflow) {
  return overflowTable[static_cast<size_t>(overflow)];
}

std::optional<Overflow> overflowFrom(std::string_view name) {
  for (size_t i = 0; i < std::size(overflowTable); ++i) {
    if (overflowTable[i] == name) {
      return static_cast<Overflow>(i);
    }
  }
  return std::nullopt;
}

std::vector<std::string> overflowNames() {
  return {std::begin(overflowTable), std::end(overflowTable)};
}

} // namespace tally
