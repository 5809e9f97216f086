//===- Counted.cpp - "1 step", "2 steps" ----------------------------------===//

#include "tally/Support/Counted.h"

#include <fmt/format.h>

namespace tally {

std::string counted(uint64_t count, std::string_view noun) {
  if (count == 1) {
    return fmt::format("1 {}", noun);
  }
  return noun.ends_with("try")  ? fmt::format("{} {}ies", count, noun.substr(0, noun.size() - 1))
         : noun.ends_with("ss") ? fmt::format("{} {}es", count, noun)
                                : fmt::format("{} {}s", count, noun);
}

} // namespace tally
