//===- Joined.h - Numbers as text -----------------------------------------===//
#ifndef TALLY_LIB_DATA_JOINED_H
#define TALLY_LIB_DATA_JOINED_H

#include <cstdint>
#include <span>
#include <string>

namespace tally {

/// `2, 128`. (fmt::join of these numbers makes g++ 12 see an overflow at -O3 that cannot be.)
inline std::string joined(std::span<const uint64_t> numbers) {
  std::string text;
  for (uint64_t number : numbers) {
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  }
  return text;
}

} // namespace tally

#endif // TALLY_LIB_DATA_JOINED_H
