//===- Quotes.cpp - What messages quote, at a length that people read -----===//

#include "tally/Support/Quotes.h"

#include <fmt/format.h>

#include <cctype>

namespace tally {

static bool isInWord(std::string_view text, size_t at) {
  return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
}

/// The next quotation mark from `at` on; the sign in "engine's" is none.
static size_t findOpening(std::string_view text, size_t at) {
  for (at = text.find('\'', at); at != std::string_view::npos && at != 0 && isInWord(text, at - 1);
       at = text.find('\'', at + 1)) {
  }
  return at;
}

static size_t findClosing(std::string_view text, size_t at) {
  for (at = text.find('\'', at); at != std::string_view::npos && isInWord(text, at + 1);
       at = text.find('\'', at + 1)) {
  }
  return at;
}

/// The first and the last of it, in whole characters of UTF-8.
static std::string shortened(std::string_view quoted) {
  auto isInside = [&](size_t at) { return at < quoted.size() && (quoted[at] & 0xC0) == 0x80; };
  size_t begin = mostQuoted * 2 / 3;
  size_t end = quoted.size() - mostQuoted / 6;
  for (; begin > 0 && isInside(begin); --begin) {
  }
  for (; isInside(end); ++end) {
  }
  return fmt::format("{} ... {}", quoted.substr(0, begin), quoted.substr(end));
}

std::string withShortQuotes(std::string_view message) {
  std::string shown;
  size_t done = 0; // of the message
  for (size_t open = findOpening(message, 0); open != std::string_view::npos;
       open = findOpening(message, done)) {
    size_t close = findClosing(message, open + 1);
    if (close == std::string_view::npos) {
      break;
    }
    std::string_view quoted = message.substr(open + 1, close - open - 1);
    shown += message.substr(done, open + 1 - done);
    shown += quoted.size() > mostQuoted ? shortened(quoted) : std::string(quoted);
    shown += '\'';
    done = close + 1;
  }
  shown += message.substr(done);
  return shown;
}

} // namespace tally
