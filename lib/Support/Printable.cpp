//===- Printable.cpp - Texts that cannot steer what shows them ------------===//

#include "tally/Support/Printable.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally {

/// Ends of lines and paragraphs, and what turns the direction of a text.
static bool isSteering(std::string_view character) {
  bool isFirstBlock = character.starts_with("\xE2\x80");
  unsigned char last = character.empty() ? 0 : static_cast<unsigned char>(character.back());
  return (isFirstBlock && (last == 0x8E || last == 0x8F || (0xA8 <= last && last <= 0xAE))) ||
         (character.starts_with("\xE2\x81") && 0xA6 <= last && last <= 0xA9);
}

size_t printableSize(std::string_view text) {
  auto byteAt = [&](size_t i) { return static_cast<unsigned char>(i < text.size() ? text[i] : 0); };
  const unsigned char first = byteAt(0);
  if (first < 0x80) {
    return text.empty() || isControl(text.front()) ? 0 : 1;
  }
  size_t size = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
  // The second byte tells what is no character: control characters, more bytes than are needed,
  // halves of UTF-16, and numbers beyond the last character.
  unsigned least = first == 0xC2 || first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  unsigned most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  for (size_t i = 1; i < size; ++i) {
    if (byteAt(i) < (i == 1 ? least : 0x80) || byteAt(i) > (i == 1 ? most : 0xBF)) {
      return 0;
    }
  }
  return isSteering(text.substr(0, size)) ? 0 : size;
}

bool isPrintable(std::string_view text) {
  while (size_t size = printableSize(text)) {
    text.remove_prefix(size);
  }
  return text.empty();
}

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    size_t size = printableSize(text);
    shown += size != 0 ? std::string(text.substr(0, size))
                       : fmt::format("\\{:02X}", static_cast<unsigned char>(text.front()));
    text.remove_prefix(std::max<size_t>(size, 1));
  }
  return shown;
}

bool isQuotable(std::string_view text) {
  return text.find('\'') == std::string_view::npos && isPrintable(text);
}

/// `name` between the quotation marks of a message.
static std::string quotable(std::string_view name) {
  std::string shown;
  for (char c : printable(name)) {
    c == '\'' ? shown += "\\27" : shown += c;
  }
  return shown;
}

std::string unquotableName(std::string_view kind, std::string_view name) {
  if (isPrintable(name)) {
    return fmt::format("the {} '{}' holds an apostrophe, shown as \\27; messages quote names with "
                       "apostrophes, so that no name may hold one; leave it out",
                       kind, quotable(name));
  }
  bool isControlled = std::any_of(name.begin(), name.end(), isControl);
  for (size_t i = 0; i < name.size(); ++i) {
    isControlled |= isSteering(name.substr(i, 3));
  }
  return fmt::format(
      "the {} '{}' holds {}; only letters, digits, spaces and signs are allowed: no line "
      "breaks, no tabs, no escape sequences",
      kind, quotable(name),
      isControlled ? "a control character" : "bytes that are not a character of UTF-8");
}

} // namespace tally
