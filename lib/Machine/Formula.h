//===- Formula.h - Values of formulas over named numbers ------------------===//
//
//   sum     := product { ("+" | "-") product }
//   product := factor { ("*" | "/") factor }
//   factor  := number | name | ("min" | "max") "(" sum "," sum ")" | "(" sum ")"
//
// Names are letters, digits, `_` and `.`, and begin with a letter. Arithmetic is that of doubles.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_MACHINE_FORMULA_H
#define TALLY_LIB_MACHINE_FORMULA_H

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace tally::machines {

/// The characters of a formula, at most; then neither its depth nor its names are many.
inline constexpr size_t maxFormula = 1000;

/// The value of a name; nothing if it has none.
using Lookup = std::function<std::optional<double>(std::string_view)>;

/// Why a text is not a formula, whatever its names stand for; empty if it is one.
std::string noFormula(std::string_view text);

/// The value of a formula; nothing, with the reason in `error`, if it is none, if a name has no
/// value, or if the result is not a finite number.
std::optional<double> evaluateFormula(std::string_view text, const Lookup &lookup,
                                      std::string &error);

/// A decimal number (`12`, `0.5`) at the start of the text, which is then shortened by it.
std::optional<double> takeNumber(std::string_view &text);

/// A name at the start of the text, which is then shortened by it; empty if none is there.
std::string_view takeName(std::string_view &text);

void skipSpaces(std::string_view &text);

} // namespace tally::machines

#endif // TALLY_LIB_MACHINE_FORMULA_H
