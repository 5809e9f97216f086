//===- Markup.cpp - Text and times in HTML and SVG ------------------------===//

#include "Markup.h"

#include <fmt/format.h>

namespace tally::report {

std::string escape(std::string_view text) {
  std::string safe;
  for (char c : text) {
    switch (c) {
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
      safe += c;
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

std::string timeText(Tick tick) {
  return fmt::format("{}.{:03} us", tick / 1'000'000, tick % 1'000'000 / 1000);
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
