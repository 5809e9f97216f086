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

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace CLI {
class App; // only CommandLine.cpp includes the library
} // namespace CLI

namespace tally::tool {

/// One option, or a positional argument, which has a name without hyphens.
struct Option {
  using Value = std::variant<bool *, std::string *, std::vector<std::string> *, uint32_t *,
                             uint64_t *, double *, std::optional<uint64_t> *>;

  /// `how`: what the value may be, and other functions below. A named list takes one value each
  /// time that it is given. `--certify{-}` need not have a value: it is then what stands in braces.
  template <typename... How>
  Option(std::string names, Value value, std::string help, const How &...how)
      : names(std::move(names)), value(value), help(std::move(help)) {
    (how(*this), ...);
  }

  template <typename Of, typename... How>
  Option(std::string names, Of &value, std::string help, const How &...how)
      : Option(std::move(names), Value(&value), std::move(help), how...) {}

  std::string names;
  Value value;
  std::string help;
  std::string shape;                                         ///< of a value in help; "": its type
  std::string choice;                                        ///< `{text,json}`
  std::function<std::string(const std::string &)> problemOf; ///< of a value; "" if there is none
  std::vector<std::string> suggestions; ///< values that a shell offers, if they are not files
  std::string suggestedBy;              ///< ... or the command whose rows begin with such values
  bool isRequired = false;
  bool isTold = false;
  bool takesSeveral = false;
  char delimiter = 0; ///< 0: none
  bool *given = nullptr;
};

/// Settles one thing about an option.
using How = std::function<void(Option &)>;

/// An integer from `least` to `most`.
How integerIn(uint64_t least, uint64_t most = UINT64_MAX);

/// A finite number from `least` to `most`.
How numberIn(double least, double most);

/// A finite number above 0.
How positiveNumber();

/// A number of bytes: `100`, `10kB`, `256MB`, `2GB`.
std::optional<uint64_t> sizeFrom(std::string_view text);
How sizeOption();

/// One of `names`, which are `plural`.
How oneOf(std::string kind, std::string plural, std::vector<std::string> names);

/// The value stands in help as `shape`: `LOOP=N`.
How writtenAs(std::string shape);

/// A file or a folder, as which a shell completes it.
inline constexpr std::string_view fileShape = "FILE";
inline constexpr std::string_view folderShape = "FOLDER";
inline constexpr auto file = [](Option &option) { option.shape = fileShape; };
inline constexpr auto folder = [](Option &option) { option.shape = folderShape; };

/// A file, and never stdout.
How onlyFile();

/// What a shell offers as a value; others are allowed, too.
How suggesting(std::vector<std::string> names);

/// A shell offers files, and the first words of what `tally COMMAND` prints: "machine list".
How suggestedBy(std::string command);

/// Help tells its default, although it is 0.
inline constexpr auto told = [](Option &option) { option.isTold = true; };

/// The command needs it.
inline constexpr auto required = [](Option &option) { option.isRequired = true; };

/// Values of a list may follow one another: `a,b`.
inline constexpr auto withCommas = [](Option &option) { option.delimiter = ','; };

/// ... or be the arguments that follow: `a b`.
inline constexpr auto withSpaces = [](Option &option) { option.takesSeveral = true; };

/// `isGiven` becomes true if the user gives it.
inline auto notedIn(bool &isGiven) {
  return [&isGiven](Option &option) { option.given = &isGiven; };
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
// next to the others is an error. Each command says when that is so. `options` are names, as
// "--trace-limit".

/// `options` have no effect if `isIdle`; `why` ends the sentence "'--trace-limit' has no effect".
void refuseIf(CLI::App &command, std::vector<std::string> options, std::string why,
              std::function<bool()> isIdle);

/// `options` have no effect without `other`.
void goesWith(CLI::App &command, std::vector<std::string> options, const std::string &other);

/// `options` have no effect together with `other`.
void goesNotWith(CLI::App &command, std::vector<std::string> options, const std::string &other);

/// Whether the user gives this option.
bool isGiven(const CLI::App &command, const std::string &option);

/// All options so far, each by its first name.
std::vector<std::string> declaredOn(const CLI::App &command);

//===----------------------------------------------------------------------===//
// Programs and commands
//===----------------------------------------------------------------------===//

/// A program or a command as its help shows it. The footer of a command has examples of it.
struct Heading {
  std::string name;
  std::string summary;
  std::string footer = "";
};

/// Adds a command; `run` is its exit status.
CLI::App &addCommand(CLI::App &app, const Heading &heading, std::function<int()> run);

/// Adds a command: an object that declares its options and does its work in run().
template <typename Command> void addCommand(CLI::App &app, const Heading &heading) {
  auto command = std::make_shared<Command>();
  command->declareOn(addCommand(app, heading, [command] { return command->run(); }));
}

/// Adds a command that only has others below it.
void addGroup(CLI::App &app, const Heading &heading,
              const std::function<void(CLI::App &)> &addCommands);

/// Adds a command that is no more, whatever its arguments; not in help. `why`: an error.
void addMoved(CLI::App &app, const std::string &name, const std::string &why);

/// Reads the command line of a program whose options and commands `declareOn` adds, and does what
/// it says: one of the commands, or `run` if there are none. The exit status of the program.
/// The command as a shell takes it, with further options: `tally sim k.mlir --trips=A=16`.
std::string commandLineWith(const std::vector<std::string> &options);

int runProgram(const Heading &heading, int argc, char **argv,
               const std::function<void(CLI::App &)> &declareOn,
               std::function<int()> run = nullptr);

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_OPTIONS_H
