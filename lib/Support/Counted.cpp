//===- Counted.cpp - "1 step", "'a' and 2 more" ---------------------------===//

#include "tally/Support/Counted.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tally {

std::string counted(uint64_t count, std::string_view noun) {
  if (count == 1) {
    return fmt::format("1 {}", noun);
  }
  return noun.ends_with("try")  ? fmt::format("{} {}ies", count, noun.substr(0, noun.size() - 1))
         : noun.ends_with("ss") ? fmt::format("{} {}es", count, noun)
                                : fmt::format("{} {}s", count, noun);
}

std::string listed(const std::vector<std::string> &names, size_t most) {
  if (names.empty()) {
    return "";
  }
  const bool isLong = names.size() > most + 1;
  const size_t told = isLong ? most : names.size() - 1;
  std::string last = isLong ? fmt::format("{} more", names.size() - most) : names.back();
  auto end = names.begin() + static_cast<std::ptrdiff_t>(told);
  return told == 0 ? last : fmt::format("{} and {}", fmt::join(names.begin(), end, ", "), last);
}

} // namespace tally
