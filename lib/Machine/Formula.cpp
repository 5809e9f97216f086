//===- Formula.cpp - Values of formulas over named numbers ----------------===//

#include "Formula.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tally::machines {

static bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

static bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

void skipSpaces(std::string_view &text) {
  while (!text.empty() && text.front() == ' ') {
    text.remove_prefix(1);
  }
}

std::optional<double> takeNumber(std::string_view &text) {
  if (text.empty() || !isDigit(text.front())) {
    return std::nullopt;
  }
  double number = 0;
  auto [end, failure] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (failure != std::errc()) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

std::string_view takeName(std::string_view &text) {
  size_t length = 0;
  if (!text.empty() && isLetter(text.front())) {
    while (length < text.size() &&
           (isLetter(text[length]) || isDigit(text[length]) || text[length] == '.')) {
      ++length;
    }
  }
  std::string_view name = text.substr(0, length);
  text.remove_prefix(length);
  return name;
}

namespace {

class Evaluator {
public:
  Evaluator(std::string_view text, const Lookup &lookup) : rest(text), lookup(lookup) {}

  /// Means nothing if there is an error.
  double run() {
    if (rest.size() > maxFormula) {
      return fail(
          fmt::format("it has {} characters, and at most {} are allowed", rest.size(), maxFormula));
    }
    double value = sum();
    skipSpaces(rest);
    if (error.empty() && !rest.empty()) {
      error = fmt::format("'{}' is left over", rest);
    }
    return value;
  }

  std::string error; ///< empty: none

private:
  /// Deeper formulas are refused before the stack ends.
  static constexpr int maxNesting = 50;

  bool accept(char c) {
    skipSpaces(rest);
    if (rest.empty() || rest.front() != c) {
      return false;
    }
    rest.remove_prefix(1);
    return true;
  }

  void expect(char c) {
    if (!accept(c)) {
      missing(fmt::format("'{}'", c));
    }
  }

  double missing(std::string_view what) {
    return fail(rest.empty() ? fmt::format("{} is missing at its end", what)
                             : fmt::format("{} is missing before '{}'", what, rest));
  }

  /// Only the first mistake is kept: the others follow from it.
  double fail(std::string message) {
    error = error.empty() ? std::move(message) : error;
    rest = {};
    return 0;
  }

  double sum() {
    double value = product();
    for (;;) {
      if (accept('+')) {
        value += product();
      } else if (accept('-')) {
        value -= product();
      } else {
        return value;
      }
    }
  }

  double product() {
    double value = factor();
    for (;;) {
      if (accept('*')) {
        value *= factor();
      } else if (accept('/')) {
        value /= factor();
      } else {
        return value;
      }
    }
  }

  double factor() {
    if (accept('(')) {
      return bracketed([&] { return sum(); });
    }
    if (std::optional<double> number = takeNumber(rest)) {
      return *number;
    }
    std::string_view name = takeName(rest);
    if (name.empty()) {
      return missing("a number, a name or '('");
    }
    if (name == "min" || name == "max") {
      expect('(');
      return bracketed([&] { return extreme(name == "min"); });
    }
    std::optional<double> value = lookup(name);
    return value ? *value : fail(fmt::format("'{}' has no value", name));
  }

  template <typename Inner> double bracketed(Inner inner) {
    if (++nesting > maxNesting) {
      return fail("its brackets are nested too deeply");
    }
    double value = inner();
    --nesting;
    expect(')');
    return value;
  }

  double extreme(bool smaller) {
    double a = sum();
    expect(',');
    double b = sum();
    return smaller ? std::min(a, b) : std::max(a, b);
  }

  std::string_view rest;
  const Lookup &lookup;
  int nesting = 0;
};

} // namespace

std::string noFormula(std::string_view text) {
  Lookup any = [](std::string_view) { return 1; };
  Evaluator evaluator(text, any);
  evaluator.run();
  return evaluator.error.empty() ? ""
                                 : fmt::format("'{}' is not a formula: {}", text, evaluator.error);
}

std::optional<double> evaluateFormula(std::string_view text, const Lookup &lookup,
                                      std::string &error) {
  Evaluator evaluator(text, lookup);
  double value = evaluator.run();
  error = evaluator.error.empty() && !std::isfinite(value) ? "it divides by zero" : evaluator.error;
  return error.empty() ? std::optional(value) : std::nullopt;
}

} // namespace tally::machines
