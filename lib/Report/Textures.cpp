//===- Textures.cpp - How stalls are filled -------------------------------===//

#include "Textures.h"

#include <fmt/format.h>

namespace tally::report {

static constexpr size_t numHues = 6;

/// One tile of a pattern, and how it lies; `{}` is the hue.
struct Texture {
  const char *name;
  const char *turn;
  uint32_t size;
  const char *content;
};

static constexpr Texture variants[] = {
    {"stripes", "rotate(45)", 6,
     R"(<rect class="w{}" width="6" height="6"/><rect class="light" width="2" height="6"/>)"},
    {"dots", "rotate(0)", 6,
     R"(<rect class="w{}" width="6" height="6"/><circle class="light" cx="3" cy="3" r="1.6"/>)"},
    {"slopes", "rotate(-45)", 5,
     R"(<rect class="w{}" width="5" height="5"/><rect class="dark" width="1.6" height="5"/>)"},
};

static constexpr Texture others[] = {
    {"crosses", "rotate(45)", 6,
     R"(<rect class="alarm" width="6" height="6"/><path class="cut" d="M0 0H6M0 0V6"/>)"},
    {"lines", "rotate(0)", 4,
     R"(<rect class="alarm" width="4" height="4"/><rect class="light" width="4" height="2"/>)"},
    {"grain", "rotate(0)", 4,
     R"(<rect class="pale" width="4" height="4"/><circle class="dark" cx="2" cy="2" r="1"/>)"},
    {"hatch", "rotate(-45)", 4,
     R"(<rect class="light" width="4" height="4"/><rect class="dark" width="1" height="4"/>)"},
};

/// Of barriers, draining, full queues, and what is left.
static constexpr const char *ownStyles[] = {"b", "d", "f", otherStyle};
static constexpr auto firstOwn = static_cast<size_t>(Cause::Kind::Barrier);

std::vector<std::string> stylesOf(const std::vector<Cause> &causes) {
  constexpr size_t numFillings = numHues * (1 + std::size(variants));
  std::vector<std::string> styles;
  size_t next = 0;
  for (const Cause &cause : causes) {
    bool isWait = cause.kind < Cause::Kind::Barrier;
    styles.push_back(!isWait              ? ownStyles[static_cast<size_t>(cause.kind) - firstOwn]
                     : next < numFillings ? fmt::format("w{}", next)
                                          : otherStyle);
    next += isWait;
  }
  return styles;
}

/// The pattern, the same for stretched pieces, and the rules for a class that is filled with them.
static std::string texture(const Texture &texture, size_t hue, const std::string &style,
                           double scale) {
  std::string name = fmt::format("{}{}", texture.name, hue);
  return fmt::format(R"(<pattern id="{0}" width="{1}" height="{1}" patternUnits="userSpaceOnUse" )"
                     R"(patternTransform="{2}">{3}</pattern>
<pattern id="{0}-time" href="#{0}" class="texture" data-turn="{2}" )"
                     R"(patternTransform="scale({4:.6g} 1) {2}"/>
<style>.timelines .{5} {{ fill: url(#{0}); }} )"
                     ".timelines .time .{5} {{ fill: url(#{0}-time); }}</style>\n",
                     name, texture.size, texture.turn,
                     fmt::format(fmt::runtime(texture.content), hue), 1 / scale, style);
}

std::string textures(double scale) {
  std::string text;
  size_t number = numHues;
  for (const Texture &variant : variants) {
    for (size_t hue = 0; hue < numHues; ++hue) {
      text += texture(variant, hue, fmt::format("w{}", number++), scale);
    }
  }
  for (size_t i = 0; i < std::size(others); ++i) {
    text += texture(others[i], 0, ownStyles[i], scale);
  }
  return text;
}

} // namespace tally::report
