//===- Options.h - Options of commands as data ----------------------------===//
//
// A command lists its options; each says its names, where its value goes, its help, and what the
// value may be:
//
//   declare(command, {{"--rows", rows, "the most values to show", integerIn(1, 1'000'000)},
//                     {"--instr", instruction, "name of the instruction", required}});
//
// Its type says the rest: a bool is a flag, and help tells the value that is there without the
// option, unless that is 0 or empty. Errors say what is allowed:
//
//   error: --rows: expected an integer from 1 to 1000000, found '0'
//   error: --sync: unknown strategy 'per-lop'; ... did you mean 'per-loop'?
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_TOOLS_TALLY_OPTIONS_H
#define TALLY_TOOLS_TALLY_OPTIONS_H

#include <CLI/CLI.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
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

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

class Option {
public:
  /// `how`: what the value may be, or one of the functions below. Positional arguments have names
  /// without hyphens. A named list takes one value each time that it is given.
  template <typename Value, typename... How>
  Option(std::string names, Value &value, std::string help, How... how)
      : add([=, &value](CLI::App &command) {
          CLI::Option *option = nullptr;
          if constexpr (std::same_as<Value, bool>) {
            option = command.add_flag(names, value, help);
          } else {
            option = command.add_option(names, value, help);
          }
          if (std::same_as<Value, std::vector<std::string>> && names.starts_with('-')) {
            option->allow_extra_args(false);
          } else if (value != Value()) {
            option->capture_default_str();
          }
          (apply(*option, how), ...);
          return option;
        }) {}

  std::function<CLI::Option *(CLI::App &)> add;

private:
  template <typename How> static void apply(CLI::Option &option, const How &how) {
    if constexpr (std::invocable<How, CLI::Option &>) {
      how(option);
    } else {
      option.check(how);
    }
  }
};

/// Help tells its default, although it is 0.
inline constexpr auto told = [](CLI::Option &option) { option.capture_default_str(); };

/// The command needs it.
inline constexpr auto required = [](CLI::Option &option) { option.required(); };

/// Values of a list may stand behind one another: `a,b`.
inline constexpr auto withCommas = [](CLI::Option &option) { option.delimiter(','); };

/// `isGiven` becomes true if the user gives it.
inline auto notedIn(bool &isGiven) {
  return [&isGiven](CLI::Option &option) {
    option.each([&isGiven](const std::string &) { isGiven = true; });
  };
}

/// The format of a command's output.
Option formatOption(std::string &format, std::string help = "text or json",
                    std::vector<std::string> names = {"text", "json"});

/// Adds options to a command, in its help under a title of their own if there is one.
void declare(CLI::App &command, std::initializer_list<Option> options,
             const std::string &title = "");

/// Whether each name is one of those that are known; says which are not.
bool areKnown(const std::vector<std::string> &names, const std::vector<std::string> &known,
              std::string_view kind, std::string_view plural);

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
