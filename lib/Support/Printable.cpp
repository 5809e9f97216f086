//===- Printable.cpp - Texts that cannot steer what shows them ------------===//

#include "tally/Support/Printable.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally {

bool isPrintable(std::string_view text) {
  return std::none_of(text.begin(), text.end(), isControl);
}

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  for (char c : text) {
    if (isControl(c)) {
      shown += fmt::format("\\{:02X}", static_cast<unsigned char>(c));
    } else {
      shown += c;
    }
  }
  return shown;
}

std::string unprintableName(std::string_view kind, std::string_view name) {
  return fmt::format("the {} '{}' holds a control character; allowed are letters, digits, spaces "
                     "and signs: no line breaks, no tabs, no escape sequences",
                     kind, printable(name));
}

} // namespace tally
