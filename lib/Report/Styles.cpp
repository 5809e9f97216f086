//===- Styles.cpp - How pieces are filled, and what each filling is called ===//

#include "Styles.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally::report {

static constexpr const char *hueNames[] = {"orange", "blue", "green", "pink", "sky blue", "yellow"};
static constexpr size_t numHues = std::size(hueNames);

/// One tile of a pattern, how it lies, and what it is called; `{}` is the hue.
struct Texture {
  const char *name;
  const char *turn;
  uint32_t size;
  const char *content;
  const char *words;
};

static constexpr Texture variants[] = {
    {"stripes", "rotate(45)", 6,
     R"(<rect class="w{}" width="6" height="6"/><rect class="light" width="2" height="6"/>)",
     "striped"},
    {"dots", "rotate(0)", 6,
     R"(<rect class="w{}" width="6" height="6"/><circle class="light" cx="3" cy="3" r="1.6"/>)",
     "dotted"},
    {"slopes", "rotate(-45)", 5,
     R"(<rect class="w{}" width="5" height="5"/><rect class="dark" width="1.6" height="5"/>)",
     "with dark stripes"},
};

static constexpr Texture others[] = {
    {"crosses", "rotate(45)", 6,
     R"(<rect class="alarm" width="6" height="6"/><path class="cut" d="M0 0H6M0 0V6"/>)",
     "red, crossed"},
    {"lines", "rotate(0)", 4,
     R"(<rect class="alarm" width="4" height="4"/><rect class="light" width="4" height="2"/>)",
     "red, lined"},
    {"grain", "rotate(0)", 4,
     R"(<rect class="pale" width="4" height="4"/><circle class="dark" cx="2" cy="2" r="1"/>)",
     "grey, dotted"},
    {"hatch", "rotate(-45)", 4,
     R"(<rect class="light" width="4" height="4"/><rect class="dark" width="1" height="4"/>)",
     "hatched"},
};

/// Of barriers, draining, full queues, and what is left.
static constexpr const char *ownStyles[] = {"b", "d", "f", "w"};
static constexpr size_t otherStyle = std::size(ownStyles) - 1;
static constexpr auto firstOwn = static_cast<size_t>(Cause::Kind::Barrier);
static constexpr size_t numFillings = numHues * (1 + std::size(variants));

StyleTable::StyleTable(const std::vector<Cause> &causes)
    : styles{{"i", "strong", "instruction, until the next one can start"},
             {"j", "strong", ""},
             {"c", "grey", "control: operations of a sequencer"},
             {"p", "faint", "critical path: before an instruction starts"},
             {"q", "red", "critical path: until a raise is seen, and the waiter goes on"}} {
  size_t next = 0;
  for (const Cause &cause : causes) {
    if (cause.kind >= Cause::Kind::Barrier || next == numFillings) {
      bool isOwn = cause.kind >= Cause::Kind::Barrier;
      size_t own = isOwn ? static_cast<size_t>(cause.kind) - firstOwn : otherStyle;
      add(ownStyles[own], others[own].words, cause);
    } else {
      std::string colour = hueNames[next % numHues];
      colour += next < numHues ? "" : fmt::format(", {}", variants[next / numHues - 1].words);
      add(fmt::format("w{}", next++), colour, cause);
    }
  }
}

/// Causes for which there are no more fillings share one.
void StyleTable::add(const std::string &name, const std::string &colour, const Cause &cause) {
  auto same = std::ranges::find(styles, name, &Style::name);
  byCause.push_back(static_cast<StyleId>(same - styles.begin()));
  if (same == styles.end()) {
    const char *verb = cause.kind == Cause::Kind::Drain ? "drains: waits for" : "waits for";
    styles.push_back({name, colour, fmt::format("{} {}", verb, cause.text)});
  } else {
    same->meaning = "waits for something else";
  }
}

StyleId StyleTable::ofPath(PathKind kind) {
  switch (kind) {
  case PathKind::Control:
    return control;
  case PathKind::Execute:
    return instruction;
  case PathKind::Startup:
  case PathKind::Occupied:
    return beforeStart;
  case PathKind::Visible:
  case PathKind::Wake:
    break;
  }
  return beforeGoing;
}

/// The pattern, and the rule for a class that is filled with it.
static std::string texture(const Texture &texture, size_t hue, const std::string &style) {
  return fmt::format(R"(<pattern id="{0}{1}" width="{2}" height="{2}" )"
                     R"(patternUnits="userSpaceOnUse" patternTransform="{3}">{4}</pattern>)"
                     "\n<style>.timelines .{5} {{ fill: url(#{0}{1}); }}</style>\n",
                     texture.name, hue, texture.size, texture.turn,
                     fmt::format(fmt::runtime(texture.content), hue), style);
}

std::string textures() {
  std::string text;
  size_t number = numHues;
  for (const Texture &variant : variants) {
    for (size_t hue = 0; hue < numHues; ++hue) {
      text += texture(variant, hue, fmt::format("w{}", number++));
    }
  }
  for (size_t i = 0; i < std::size(others); ++i) {
    text += texture(others[i], 0, ownStyles[i]);
  }
  return text;
}

} // namespace tally::report
