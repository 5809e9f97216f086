//===- Options.cpp - What values of options may be ------------------------===//

#include "Options.h"

#include "Messages.h"
#include "tally/Support/Names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tally::tool {
namespace {

/// All of the text as a number; none if it is none, or does not fit.
template <typename Number> std::optional<Number> numberFrom(std::string_view text) {
  Number number{};
  auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  bool isAll = failure == std::errc() && end == text.data() + text.size();
  return isAll ? std::optional(number) : std::nullopt;
}

/// `isGood(text)`; `allowed` stands in the error.
template <typename IsGood> How allowing(const std::string &allowed, IsGood isGood) {
  return [allowed, isGood](Option &option) {
    option.problemOf = [allowed, isGood](const std::string &text) {
      return isGood(text) ? std::string() : fmt::format("expected {}, found '{}'", allowed, text);
    };
  };
}

/// A number for which `isGood(number)`.
template <typename Number, typename IsGood>
How numberThat(const std::string &allowed, IsGood isGood) {
  return allowing(allowed, [isGood](const std::string &text) {
    std::optional<Number> number = numberFrom<Number>(text);
    return number && isGood(*number);
  });
}

} // namespace

How integerIn(uint64_t least, uint64_t most) {
  std::string allowed = least == most ? fmt::format("{}, and nothing else", least)
                                      : fmt::format("an integer from {} to {}", least, most);
  return numberThat<uint64_t>(
      allowed, [least, most](uint64_t number) { return number >= least && number <= most; });
}

How numberIn(double least, double most) {
  return numberThat<double>(
      fmt::format("a number from {} to {}", least, most),
      [least, most](double number) { return number >= least && number <= most; });
}

How positiveNumber() {
  return numberThat<double>("a number above 0",
                            [](double number) { return std::isfinite(number) && number > 0; });
}

std::optional<uint64_t> sizeFrom(std::string_view text) {
  size_t end = text.find_first_not_of("0123456789");
  std::string_view unit = text.substr(std::min(end, text.size()));
  std::optional<uint64_t> number = numberFrom<uint64_t>(text.substr(0, text.size() - unit.size()));
  constexpr std::pair<std::string_view, uint64_t> units[] = {
      {"", 1}, {"kB", 1000}, {"MB", 1'000'000}, {"GB", 1'000'000'000}};
  for (auto [name, bytes] : units) {
    if (unit == name && number && *number <= UINT64_MAX / bytes) {
      return *number * bytes;
    }
  }
  return std::nullopt;
}

How sizeOption() {
  return allowing("a number of bytes, as 100kB, 256MB or 2GB",
                  [](const std::string &text) { return sizeFrom(text).has_value(); });
}

How oneOf(std::string kind, std::string plural, std::vector<std::string> names) {
  return [=](Option &option) {
    option.choice = fmt::format("{{{}}}", fmt::join(names, ","));
    option.suggestions = names;
    option.problemOf = [=](const std::string &text) {
      bool isKnown = std::ranges::find(names, text) != names.end();
      return isKnown ? std::string()
                     : unknownName(kind, plural, text, {names.begin(), names.end()});
    };
  };
}

How writtenAs(std::string shape) {
  return [shape = std::move(shape)](Option &option) { option.shape = shape; };
}

How onlyFile() {
  return [isNoStream = allowing("a file, as './-' is one", [](const std::string &text) {
            return text != "-";
          })](Option &option) {
    file(option);
    isNoStream(option);
  };
}

How suggesting(std::vector<std::string> names) {
  return [names = std::move(names)](Option &option) { option.suggestions = names; };
}

How suggestedBy(std::string command) {
  return [command = std::move(command)](Option &option) { option.suggestedBy = command; };
}

Option formatOption(std::string &format, std::string help, std::vector<std::string> names) {
  return {"--format", format, std::move(help), oneOf("format", "formats", std::move(names))};
}

bool areKnown(const std::vector<std::string> &names, const std::vector<std::string> &known,
              std::string_view kind, std::string_view plural) {
  bool all = true;
  for (const std::string &name : names) {
    if (std::ranges::find(known, name) == known.end()) {
      all = false;
      complain(unknownName(kind, plural, name, {known.begin(), known.end()}));
    }
  }
  return all;
}

} // namespace tally::tool
