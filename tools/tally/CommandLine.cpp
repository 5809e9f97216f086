//===- CommandLine.cpp - Programs and their options, as CLI11 reads them --===//
//
// The only file that includes the library: it is large, and commands need none of it.
//
//===----------------------------------------------------------------------===//

#include "CommandTree.h"
#include "Interrupt.h"
#include "Messages.h"
#include "Options.h"
#include "Progress.h"
#include "Session.h"

#include "tally/Support/Names.h"
#include "tally/Support/Printable.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <map>
#include <unistd.h>

namespace tally::tool {

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// A flag, an option with a value, or a positional argument.
template <typename Of>
static CLI::Option *addTo(CLI::App &command, const Option &option, Of &value) {
  bool isFlag = std::is_same_v<Of, bool> || option.names.ends_with('}');
  bool isNamedList = std::is_same_v<Of, std::vector<std::string>> && option.names.starts_with('-');
  CLI::Option *added = nullptr;
  if constexpr (std::is_same_v<Of, bool> || std::is_same_v<Of, std::string>) {
    added = isFlag ? command.add_flag(option.names, value, option.help) : nullptr;
  }
  added = isFlag ? added : command.add_option(option.names, value, option.help);
  if (isNamedList) {
    added->allow_extra_args(option.takesSeveral);
  } else if (option.isTold || value != Of()) {
    added->capture_default_str();
  }
  return added;
}

namespace {

/// What shells offer as values.
struct Suggestions {
  std::vector<std::string> names;
  std::string by;
};

std::map<const CLI::Option *, Suggestions> suggestionsOf;

} // namespace

void declare(CLI::App &command, std::initializer_list<Option> options, const std::string &title) {
  for (const Option &option : options) {
    CLI::Option *added =
        std::visit([&](auto *value) { return addTo(command, option, *value); }, option.value);
    added->required(option.isRequired);
    if (!option.shape.empty()) {
      added->type_name(option.shape);
    }
    suggestionsOf[added] = {option.suggestions, option.suggestedBy};
    if (option.problemOf) {
      added->check(CLI::Validator(option.problemOf, option.choice, ""));
    }
    if (option.delimiter != 0) {
      added->delimiter(option.delimiter);
    }
    if (option.given) {
      added->each([given = option.given](const std::string &) { *given = true; });
    }
    if (!title.empty()) {
      added->group(title);
    }
  }
}

//===----------------------------------------------------------------------===//
// --diagnostics, --quiet
//===----------------------------------------------------------------------===//

static constexpr std::string_view diagnosticsOption = "--diagnostics";
static constexpr std::string_view quietOption = "--quiet";

/// Reads how messages are written before anything else is read, so that errors in options follow
/// it, too.
static void readMessageOptions(int argc, const char *const *argv) {
  for (int i = 1; i < argc; ++i) {
    std::string_view text = argv[i];
    if (text == quietOption) {
      setQuiet(true);
    }
    bool isNext = text == diagnosticsOption && i + 1 < argc;
    if (isNext || text.starts_with(fmt::format("{}=", diagnosticsOption))) {
      std::string_view format =
          isNext ? std::string_view(argv[i + 1]) : text.substr(diagnosticsOption.size() + 1);
      setMessagesAsJson(format == "json");
    }
  }
}

//===----------------------------------------------------------------------===//
// Options that have no effect
//===----------------------------------------------------------------------===//

namespace {

struct IdleRule {
  std::vector<std::string> options;
  std::string why;
  std::function<bool()> isIdle;
};

std::vector<IdleRule> &rulesOf(const CLI::App &command) {
  static std::map<const CLI::App *, std::vector<IdleRule>> rules;
  return rules[&command];
}

/// All of it at once.
class WrongUse : public CLI::ParseError {
public:
  explicit WrongUse(std::vector<std::string> found)
      : ParseError("wrong use", CLI::ExitCodes::ValidationError), messages(std::move(found)) {}

  std::vector<std::string> messages;
};

void refuseIdleOptions(const CLI::App &command) {
  std::vector<std::string> messages;
  for (const IdleRule &rule : rulesOf(command)) {
    for (const std::string &option : rule.options) {
      if (isGiven(command, option) && rule.isIdle()) {
        messages.push_back(fmt::format("'{}' has no effect {}", option, rule.why));
      }
    }
  }
  if (!messages.empty()) {
    throw WrongUse(std::move(messages));
  }
}

/// `--listing=3` is a slip. An option with an optional value (`--certify`) stays as it is.
void refuseFlagValue(CLI::Option &option) {
  bool isFlag = option.get_items_expected_max() == 0 && !option.get_lnames().empty() &&
                option.get_flag_value(option.get_lnames().front(), "") == "true";
  if (isFlag) {
    option.disable_flag_override();
  }
}

} // namespace

bool isGiven(const CLI::App &command, const std::string &option) {
  return command.get_option(option)->count() != 0;
}

std::vector<std::string> declaredOn(const CLI::App &command) {
  std::vector<std::string> names;
  for (const CLI::Option *option : command.get_options()) {
    if (!option->get_lnames().empty()) {
      names.push_back("--" + option->get_lnames().front());
    }
  }
  return names;
}

void refuseIf(CLI::App &command, std::vector<std::string> options, std::string why,
              std::function<bool()> isIdle) {
  rulesOf(command).push_back({std::move(options), std::move(why), std::move(isIdle)});
}

void goesWith(CLI::App &command, std::vector<std::string> options, const std::string &other) {
  refuseIf(command, std::move(options), fmt::format("without '{}'", other),
           [&command, other] { return !isGiven(command, other); });
}

void goesNotWith(CLI::App &command, std::vector<std::string> options, const std::string &other) {
  refuseIf(command, std::move(options), fmt::format("together with '{}'", other),
           [&command, other] { return isGiven(command, other); });
}

/// What all commands have in common, once their own options are there: --diagnostics and --quiet,
/// no values for flags, and errors for options without an effect.
static void finishOptions(CLI::App &app) {
  static std::string read; // before all others, by readMessageOptions()
  static bool isQuiet = false;
  declare(app, {{std::string(diagnosticsOption), read,
                 "messages on stderr as text, or as json: one object a line "
                 "(docs/guide/json/Messages.md)",
                 oneOf("format", "formats", {"text", "json"})},
                {std::string(quietOption), isQuiet,
                 "only errors and warnings on stderr: no remarks, notes or progress"}});
  app.parse_complete_callback([&app] { refuseIdleOptions(app); });
  for (CLI::Option *option : app.get_options()) {
    refuseFlagValue(*option);
  }
  for (CLI::App *below : app.get_subcommands({})) {
    finishOptions(*below);
  }
}

//===----------------------------------------------------------------------===//
// Commands as data
//===----------------------------------------------------------------------===//

static std::string nameOf(const CLI::App &command) {
  const CLI::App *parent = command.get_parent();
  return parent ? fmt::format("{} {}", nameOf(*parent), command.get_name()) : command.get_name();
}

static std::vector<std::string> commandsOf(const CLI::App &command) {
  std::vector<std::string> names;
  for (const CLI::App *below : command.get_subcommands({})) {
    if (!below->get_group().empty()) {
      names.push_back(below->get_name());
    }
  }
  return names;
}

/// `tally plan [OPTIONS] kernel [second]`
static std::string usageOf(const CLI::App &command) {
  std::string usage = nameOf(command) + " [OPTIONS]";
  for (const CLI::Option *option : command.get_options()) {
    if (option->get_positional()) {
      std::string name = option->get_name() + (option->get_items_expected_max() > 1 ? "..." : "");
      usage += fmt::format(fmt::runtime(option->get_required() ? " {}" : " [{}]"), name);
    } else if (option->get_required()) {
      usage += fmt::format(" {}=...", option->get_name());
    }
  }
  return usage + (commandsOf(command).empty() ? "" : " COMMAND ...");
}

/// `--certify{-}` is a flag of the library that may have a value.
static bool mayLackValue(const CLI::Option &option) {
  return option.get_items_expected_max() == 0 && !option.get_lnames().empty() &&
         option.get_flag_value(option.get_lnames().front(), "") != "true";
}

namespace {

/// Help shows an option that may lack its value as `--certify[=FILE]`.
class HelpFormatter : public CLI::Formatter {
public:
  std::string make_option_name(const CLI::Option *option, bool isPositional) const override {
    std::string name = Formatter::make_option_name(option, isPositional);
    return mayLackValue(*option)
               ? fmt::format("{}[={}]", name.substr(0, name.find('{')), option->get_type_name())
               : name;
  }

  std::string make_option_opts(const CLI::Option *option) const override {
    return mayLackValue(*option) ? "" : Formatter::make_option_opts(option);
  }
};

} // namespace

static CommandOption dataOf(const CLI::Option &option) {
  CommandOption data;
  data.isPositional = option.get_positional();
  if (data.isPositional) {
    data.names = {option.get_name()};
  }
  for (const std::string &name : option.get_snames()) {
    data.names.push_back("-" + name);
  }
  for (const std::string &name : option.get_lnames()) {
    data.names.push_back("--" + name);
  }
  data.mayLackValue = mayLackValue(option);
  bool hasValue = data.mayLackValue || option.get_items_expected_max() > 0;
  std::string type = option.get_type_name(); // TEXT:{text,json}, where there is a choice
  data.value = !hasValue ? "" : type.substr(0, type.find(':'));
  data.help = option.get_description();
  data.byDefault = option.get_default_str();
  data.title = option.get_group() == "Options" ? "" : option.get_group();
  data.delimiter = option.get_delimiter();
  data.isRequired = option.get_required();
  data.isRepeated = option.get_items_expected_max() > 1;
  if (auto found = suggestionsOf.find(&option); found != suggestionsOf.end()) {
    data.suggestions = found->second.names;
    data.suggestedBy = found->second.by;
  }
  return data;
}

static CommandTree dataOf(const CLI::App &command, const std::string &version) {
  CommandTree data{nameOf(command),
                   command.get_description(),
                   command.get_footer(),
                   usageOf(command),
                   version,
                   {},
                   {}};
  for (const CLI::Option *option : command.get_options()) {
    data.options.push_back(dataOf(*option));
  }
  for (const CLI::App *below : command.get_subcommands({})) {
    if (!below->get_group().empty()) { // what has moved is not in help
      data.commands.push_back(dataOf(*below, version));
    }
  }
  return data;
}

CommandTree treeOf(const CLI::App &app) {
  const CLI::App *program = &app;
  while (program->get_parent()) {
    program = program->get_parent();
  }
  return dataOf(*program, fmt::format("{} {}", program->get_name(), TALLY_VERSION));
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

namespace {

/// The innermost command that was named.
const CLI::App &commandOf(const CLI::App &app) {
  std::vector<CLI::App *> named = const_cast<CLI::App &>(app).get_subcommands();
  return named.empty() ? app : commandOf(*named.front());
}

std::vector<std::string> optionsOf(const CLI::App &command) {
  std::vector<std::string> names;
  for (const CLI::Option *option : command.get_options()) {
    for (const std::string &name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

/// An argument that the command does not take.
std::string unexpected(const CLI::App &command, const std::string &argument) {
  if (argument.starts_with('-')) {
    std::string name = argument.substr(0, argument.find('='));
    std::vector<std::string> known = optionsOf(command);
    if (std::ranges::find(known, name) != known.end()) {
      return fmt::format("option '{}' of '{}' has to stand after '{}'", name, nameOf(command),
                         command.get_name());
    }
    std::string_view nearest = nearestName(name, {known.begin(), known.end()});
    return fmt::format("unknown option '{}' of '{}'{}", name, nameOf(command),
                       nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest));
  }
  std::vector<std::string> commands = commandsOf(command);
  return commands.empty()
             ? fmt::format("unexpected argument '{}' of '{}'", argument, nameOf(command))
             : unknownName("command", fmt::format("commands of '{}'", nameOf(command)), argument,
                           {commands.begin(), commands.end()});
}

/// What has to be there and is not.
std::vector<std::string> missingOf(const CLI::App &command) {
  std::vector<std::string> messages;
  for (const CLI::Option *option : command.get_options()) {
    if (option->get_required() && option->count() == 0) {
      messages.push_back(fmt::format("'{}' needs the {} '{}': {}", nameOf(command),
                                     option->get_positional() ? "argument" : "option",
                                     option->get_name(), option->get_description()));
    }
  }
  std::vector<std::string> commands = commandsOf(command);
  if (messages.empty() && !commands.empty()) {
    messages.push_back(fmt::format("'{}' needs a command; the commands of '{}' are '{}'",
                                   nameOf(command), nameOf(command), fmt::join(commands, "', '")));
  }
  return messages;
}

/// An option that is given too often, or without its value.
std::string miscounted(const CLI::Option &option) {
  std::string name = option.get_name();
  if (option.get_items_expected_max() == 0) {
    return fmt::format("'{}' takes no value", name);
  }
  if (option.count() > 1) {
    return fmt::format("'{}' is given {} times; it takes one value", name, option.count());
  }
  std::string type = option.get_type_name(); // TEXT:{text,json}, where there is a choice
  size_t choice = type.find('{');
  return fmt::format(
      "'{}' has no value{}", name,
      choice == std::string::npos ? "" : fmt::format("; it takes one of {}", type.substr(choice)));
}

/// The text of the library begins with the name of the option; what follows is ours only if a
/// validator of ours wrote it.
std::vector<std::string> messagesOf(const CLI::App &command, const CLI::ParseError &error) {
  if (const auto *wrongUse = dynamic_cast<const WrongUse *>(&error)) {
    return wrongUse->messages;
  }
  if (dynamic_cast<const CLI::RequiredError *>(&error)) {
    return missingOf(command);
  }
  std::string text = error.what();
  std::string name = text.substr(0, text.find_first_of(": "));
  const CLI::Option *option = command.get_option_no_throw(name);
  option = option ? option : command.get_option_no_throw("--" + name); // as it names flags
  if (option && dynamic_cast<const CLI::ArgumentMismatch *>(&error)) {
    return {miscounted(*option)};
  }
  return {text};
}

} // namespace

/// Whether no argument is empty, and no option is given an empty value; else that is reported. No
/// file and no name is empty, and a script whose variable is not set should hear of it.
static bool noneIsEmpty(int argc, const char *const *argv) {
  bool none = true;
  for (int i = 1; i < argc; ++i) {
    std::string_view text = argv[i];
    std::string_view before = argv[i - 1];
    bool isOption = text.starts_with("--") && text.find('=') == text.size() - 1;
    if (isOption) {
      complain(fmt::format("'{}' has no value", text.substr(0, text.size() - 1)));
    } else if (text.empty() && i > 1 && before.starts_with('-') &&
               before.find('=') == before.npos) {
      complain(fmt::format("the value of '{}' is empty", before));
    } else if (text.empty()) {
      complain(fmt::format("argument {} is empty", i));
    }
    none &= !isOption && !text.empty();
  }
  return none;
}

static Diagnostic withHelp(Diagnostic last, const CLI::App &command, const CLI::ParseError &error) {
  if (dynamic_cast<const CLI::RequiredError *>(&error)) {
    last.note({}, fmt::format("usage: {}", usageOf(command)));
  }
  last.note({}, fmt::format("'{} --help' says what there is", nameOf(command)));
  return last;
}

/// Reports what is wrong with the options.
static void tellOptionError(const CLI::App &app, const CLI::ParseError &error) {
  const CLI::App &command = commandOf(app);
  Diagnostics errors;
  std::vector<std::string> unexpectedOnes = app.remaining(/*recurse=*/true);
  for (const std::string &argument : unexpectedOnes) {
    errors.error({}, unexpected(command, argument));
    if (!argument.starts_with('-') && !commandsOf(command).empty()) {
      break; // what follows an unknown command is for that command
    }
  }
  if (unexpectedOnes.empty()) {
    for (const std::string &message : messagesOf(command, error)) {
      errors.error({}, message);
    }
  }
  for (size_t i = 0; i < errors.all().size(); ++i) {
    bool isLast = i + 1 == errors.all().size();
    tell(isLast ? withHelp(errors.all()[i], command, error) : errors.all()[i], {});
  }
}

//===----------------------------------------------------------------------===//
// Programs and commands
//===----------------------------------------------------------------------===//

/// A file that is opened later must not take the place of a stream that was closed: results would
/// go into it. What is read from or written to such a stream fails.
static void occupyStreams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) == -1) {
      open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY); // takes the lowest number
    }
  }
}

/// A command that is done leaves the library as one that ends early does.
static void onRun(CLI::App &app, std::function<int()> run) {
  app.callback([run = std::move(run)] { end(Exit(run())); });
}

CLI::App &addCommand(CLI::App &app, const Heading &heading, std::function<int()> run) {
  CLI::App *command = app.add_subcommand(heading.name, heading.summary);
  command->footer(heading.footer);
  onRun(*command, std::move(run));
  return *command;
}

void addGroup(CLI::App &app, const Heading &heading,
              const std::function<void(CLI::App &)> &addCommands) {
  CLI::App *group = app.add_subcommand(heading.name, heading.summary);
  addCommands(*group);
  group->footer(heading.footer)->require_subcommand(1); // not that of the commands below
}

void addMoved(CLI::App &app, const std::string &name, const std::string &why) {
  addCommand(app, {name, ""},
             [why]() -> int {
               complain(why);
               return Exit::Undecided;
             })
      .group("")
      ->allow_extras()
      ->set_help_flag();
}

/// As the user typed it; empty in tests of commands.
static std::vector<std::string> typed;

/// As `$'k\377.mlir'`, what would not survive as text.
static std::string escapedForShell(std::string_view word) {
  std::string escaped = "$'";
  for (char c : word) {
    bool isPlain = c >= ' ' && c <= '~' && c != '\'' && c != '\\';
    escaped += isPlain ? std::string(1, c) : fmt::format("\\{:03o}", static_cast<unsigned char>(c));
  }
  return escaped + "'";
}

static std::string quotedForShell(const std::string &word) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "0123456789@%+=:,./_-";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) {
    return word;
  }
  if (!isPrintable(word)) {
    return escapedForShell(word);
  }
  std::string quoted = "'";
  for (char c : word) {
    quoted += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return quoted + "'";
}

/// How messages are shown changes no result.
static std::vector<std::string> withoutMessageOptions(const std::vector<std::string> &words) {
  std::vector<std::string> kept;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == diagnosticsOption) {
      ++i; // its value
    } else if (words[i] != quietOption &&
               !words[i].starts_with(std::string(diagnosticsOption) + "=")) {
      kept.push_back(words[i]);
    }
  }
  return kept;
}

std::string commandLineWith(const std::vector<std::string> &options) {
  std::vector<std::string> words = withoutMessageOptions(typed);
  words.insert(std::ranges::find(words, "--"), options.begin(),
               options.end()); // what follows is no option
  std::ranges::transform(words, words.begin(), quotedForShell);
  return fmt::format("{}", fmt::join(words, " "));
}

static void parseAndRun(CLI::App &app, int argc, char **argv) {
  try {
    app.parse(argc, argv);
  } catch (const std::bad_alloc &) {
    fail("out of memory: what this asks for does not fit; smaller or fewer buffers and trips may");
  }
}

int runProgram(const Heading &heading, int argc, char **argv,
               const std::function<void(CLI::App &)> &declareOn, std::function<int()> run) {
  occupyStreams();
  for (int ofWriting : {SIGPIPE, SIGXFSZ}) {
    std::signal(ofWriting, SIG_IGN); // writing says what went wrong
  }
  endOnSignals();
  Heartbeat heartbeat;
  CLI::App app{heading.summary, heading.name};
  app.formatter(std::make_shared<HelpFormatter>());
  app.footer(heading.footer);
  declareOn(app);
  if (run) {
    onRun(app, std::move(run));
  } else {
    app.require_subcommand(1);
  }
  app.set_version_flag("--version", heading.name + " " TALLY_VERSION " (MLIR 22)");
  finishOptions(app);
  typed.assign(argv, argv + argc);
  typed[0] = heading.name;
  readMessageOptions(argc, argv);
  if (!noneIsEmpty(argc, argv)) {
    return Exit::Undecided;
  }
  try {
    parseAndRun(app, argc, argv);
  } catch (const Ended &ended) {
    return ended.status;
  } catch (const CLI::CallForHelp &) {
    return writeOutput("-", app.help()) ? Exit::Yes : Exit::Undecided;
  } catch (const CLI::Success &version) {
    return writeOutput("-", fmt::format("{}\n", version.what())) ? Exit::Yes : Exit::Undecided;
  } catch (const CLI::ParseError &error) {
    tellOptionError(app, error);
    return Exit::Undecided;
  }
  return Exit::Yes;
}

} // namespace tally::tool
