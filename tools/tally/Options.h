//===- Options.h - What values on the command line may be -----------------===//
//
// Checks for options, each with a short error that says what is allowed:
//
//   error: --count: expected an integer of at least 1, found '0'
//   error: --sync: unknown strategy 'per-lop'; ... did you mean 'per-loop'?
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_TOOLS_TALLY_OPTIONS_H
#define TALLY_TOOLS_TALLY_OPTIONS_H

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tally::tool {

/// An integer from `least` to `most`.
CLI::Validator integerIn(uint64_t least, uint64_t most = UINT64_MAX);

/// A finite number from `least` to `most`.
CLI::Validator numberIn(double least, double most);

/// A finite number above 0.
CLI::Validator positiveNumber();

/// A number of bytes: `100`, `10kB`, `256MB`, `2GB`.
std::optional<uint64_t> sizeFrom(std::string_view text);
CLI::Validator sizeOption();

/// One of `names`, which are `plural`.
CLI::Validator oneOf(std::string kind, std::string plural, std::vector<std::string> names);

/// One of the formats of a command's output.
CLI::Validator formatIn(std::vector<std::string> names);

//===----------------------------------------------------------------------===//
// Options that have no effect
//===----------------------------------------------------------------------===//
//
// What was asked for and is not done is never passed over: an option that would have no effect
// beside the others is an error. Each command says when that is so. `options` are names, as
// "--trace-limit".

/// `options` have no effect if `isIdle`; `why` ends the sentence "'--trace-limit' has no effect".
void refuseIf(CLI::App &command, std::vector<std::string> options, std::string why,
              std::function<bool()> isIdle);

/// `options` have no effect without `other`.
void goesWith(CLI::App &command, std::vector<std::string> options, const std::string &other);

/// `options` have no effect beside `other`.
void goesNotWith(CLI::App &command, std::vector<std::string> options, const std::string &other);

/// Whether the user gives this option.
bool isGiven(const CLI::App &command, const std::string &option);

//===----------------------------------------------------------------------===//
// All commands
//===----------------------------------------------------------------------===//

/// What all commands have in common, once their own options are there: --diagnostics, no values for
/// flags, and errors for options without an effect.
void finishOptions(CLI::App &app);

/// Reads --diagnostics before anything else is read, so that errors in options follow it, too.
void readDiagnosticsOption(int argc, const char *const *argv);

/// Whether no argument is empty, and no option is given an empty value; else that is reported. No
/// file and no name is empty, and a script whose variable is not set should hear of it.
bool noneIsEmpty(int argc, const char *const *argv);

/// Reports what is wrong with the options.
void tellOptionError(const CLI::App &app, const CLI::ParseError &error);

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_OPTIONS_H
