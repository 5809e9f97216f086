//===- Names.cpp - Names that there are not, and new ones -----------------===//

#include "tally/Support/Names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>

namespace tally {

/// How many characters to insert, drop, replace or swap with the next; `limit` if no fewer than
/// that. Of the table three rows are kept: row i holds the distances of the first i characters of
/// `a` to each start of `b`.
static size_t editDistance(std::string_view a, std::string_view b, size_t limit) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) >= limit) {
    return limit;
  }
  std::vector<size_t> row(b.size() + 1), above(row), aboveThat(row);
  std::iota(row.begin(), row.end(), size_t(0));
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(aboveThat, above);
    std::swap(above, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, above[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], aboveThat[j - 2] + 1);
      }
    }
  }
  return std::min(row.back(), limit);
}

std::string_view nearestName(std::string_view name, const std::vector<std::string_view> &known) {
  constexpr size_t longest = 256; // what a person would write, and slip in
  std::string_view nearest;
  size_t best = std::min(name.size(), longest) / 3 + 2;
  for (std::string_view candidate : known) {
    size_t distance = name.size() > longest ? best : editDistance(name, candidate, best);
    // A slip changes one character or less than half of them; of names without a character in
    // common neither is meant, however short.
    size_t length = std::max(name.size(), candidate.size());
    bool isSlip = distance == 1 ? length > 1 : 2 * distance < length;
    if (distance < best && isSlip) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

/// Names are told all if they are few, or if none of them is near.
static constexpr size_t fewNames = 12;
static constexpr size_t mostNames = 60;

/// Each name once: several things may have one, by mistake.
static std::string listOf(std::string_view plural, const std::vector<std::string_view> &all) {
  std::vector<std::string_view> known;
  std::set<std::string_view> seen;
  std::ranges::copy_if(all, std::back_inserter(known),
                       [&](std::string_view name) { return seen.insert(name).second; });
  size_t told = std::min(known.size(), mostNames);
  std::string list = fmt::format("; the {} are '{}'", plural,
                                 fmt::join(known.begin(), known.begin() + ptrdiff_t(told), "', '"));
  return told == known.size() ? list : fmt::format("{} and {} more", list, known.size() - told);
}

/// `there are no registers here`, `this kernel has no loops or branches`
static std::string noneOf(std::string_view plural) {
  constexpr std::string_view ofKernel = " of this kernel";
  if (!plural.ends_with(ofKernel)) {
    return fmt::format("there are no {}", plural);
  }
  std::string things(plural.substr(0, plural.size() - ofKernel.size()));
  if (size_t last = things.rfind(" and "); last != std::string::npos) {
    things.replace(last, 5, " or ");
  }
  return fmt::format("this kernel has no {}", things);
}

std::string unknownName(std::string_view kind, std::string_view plural, std::string_view name,
                        const std::vector<std::string_view> &known, uint32_t &effort) {
  std::string message = fmt::format("unknown {} '{}'", kind, name);
  if (known.empty()) {
    return effort != 0 ? fmt::format("{}; {}", message, noneOf(plural)) : message;
  }
  if (effort == 0) {
    return known.size() <= fewNames ? message + listOf(plural, known) : message;
  }
  --effort;
  std::string_view nearest = nearestName(name, known);
  if (nearest.empty()) {
    return message + listOf(plural, known);
  }
  message += known.size() <= fewNames ? listOf(plural, known) : "";
  return fmt::format("{}; did you mean '{}'?", message, nearest);
}

std::string unknownName(std::string_view kind, std::string_view plural, std::string_view name,
                        const std::vector<std::string_view> &known) {
  uint32_t once = 1;
  return unknownName(kind, plural, name, known, once);
}

std::string FreshNames::add(std::string name) {
  NameId base = taken.intern(name);
  auto isNew = [&](NameId id) { return id.value == lastNumber.size(); };
  if (isNew(base)) {
    lastNumber.push_back(1);
    return name;
  }
  std::string numbered;
  do {
    numbered = fmt::format("{}#{}", name, ++lastNumber[base.value]);
  } while (avoided.find(numbered).valid() || !isNew(taken.intern(numbered)));
  lastNumber.push_back(1);
  return numbered;
}

} // namespace tally
