//===- Markup.cpp - Text and times in HTML and SVG ------------------------===//

#include "Markup.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally::report {

static bool isContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

/// Bytes of a character of several, by the first of them; 0 if none begins so.
static size_t sizeByFirst(unsigned char first) {
  return first >= 0xF5 ? 0 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 0;
}

/// Bytes of the character at the start of a text; 0 if that is none.
static size_t characterSize(std::string_view text) {
  auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) {
    return first >= 0x20 && first != 0x7F ? 1 : first == '\n';
  }
  size_t size = sizeByFirst(first);
  for (size_t i = 1; i < size; ++i) {
    if (i >= text.size() || !isContinuation(text[i])) {
      return 0;
    }
  }
  auto second = size > 1 ? static_cast<unsigned char>(text[1]) : 0;
  bool isTooLong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  bool isNone = (first == 0xED && second >= 0xA0) || (first == 0xF4 && second >= 0x90);
  return isTooLong || isNone ? 0 : size;
}

std::string shorten(std::string text, size_t most) {
  if (text.size() <= most) {
    return text;
  }
  size_t end = most - 3;
  while (end > 0 && isContinuation(text[end])) {
    --end;
  }
  return text.substr(0, end) + "...";
}

std::string escape(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    size_t size = characterSize(text);
    std::string_view character = size > 0 ? text.substr(0, size) : "?";
    text.remove_prefix(std::max<size_t>(size, 1));
    switch (character[0]) {
    case '&':
      safe += "&amp;";
      break;
    case '<':
      safe += "&lt;";
      break;
    case '>':
      safe += "&gt;";
      break;
    case '"':
      safe += "&quot;";
      break;
    default:
      safe += character;
    }
  }
  return safe;
}

std::string nanoseconds(Tick tick) {
  std::string text = fmt::format("{}.{:03}", tick / 1000, tick % 1000);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') {
    text.pop_back();
  }
  return text;
}

std::string percentText(Tick part, Tick whole) {
  return fmt::format("{}%", whole == 0 ? 0 : (part * 100 + whole / 2) / whole);
}

Tick axisStep(Tick span) {
  constexpr Tick mostLines = 12;
  for (Tick power = 1;; power *= 10) {
    for (Tick digit : {1, 2, 5}) {
      if (digit * power * mostLines >= span) {
        return digit * power;
      }
    }
  }
}

std::string axisText(Tick at, Tick step, Tick until) {
  struct Unit {
    Tick size;
    const char *name;
  };

  Unit unit = until >= 10'000'000'000 ? Unit{1'000'000'000, "ms"}
              : until >= 10'000'000   ? Unit{1'000'000, "us"}
                                      : Unit{1000, "ns"};
  int decimals = 0;
  for (Tick size = unit.size; size > step; size /= 10) {
    ++decimals;
  }
  return fmt::format("{:.{}f} {}", double(at) / double(unit.size), decimals, unit.name);
}

} // namespace tally::report
