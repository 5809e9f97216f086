//===- Options.cpp - Options of commands as data --------------------------===//

#include "Options.h"

#include "Messages.h"
#include "tally/Support/Names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

namespace tally::tool {
namespace {

/// All of the text as a number; none if it is none, or does not fit.
template <typename Number> std::optional<Number> numberFrom(std::string_view text) {
  Number number{};
  auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  bool isAll = failure == std::errc() && end == text.data() + text.size();
  return isAll ? std::optional(number) : std::nullopt;
}

/// `isGood(text)`; `allowed` stands in help and in the error.
template <typename IsGood> CLI::Validator allowing(const std::string &allowed, IsGood isGood) {
  return CLI::Validator(
      [allowed, isGood](std::string &text) {
        return isGood(text) ? std::string() : fmt::format("expected {}, found '{}'", allowed, text);
      },
      "", "");
}

/// A number for which `isGood(number)`.
template <typename Number, typename IsGood>
CLI::Validator numberThat(const std::string &allowed, IsGood isGood) {
  return allowing(allowed, [isGood](const std::string &text) {
    std::optional<Number> number = numberFrom<Number>(text);
    return number && isGood(*number);
  });
}

std::vector<std::string_view> viewsOf(const std::vector<std::string> &names) {
  return {names.begin(), names.end()};
}

} // namespace

CLI::Validator integerIn(uint64_t least, uint64_t most) {
  std::string allowed = least == most ? fmt::format("{}, and nothing else", least)
                                      : fmt::format("an integer from {} to {}", least, most);
  return numberThat<uint64_t>(
      allowed, [least, most](uint64_t number) { return number >= least && number <= most; });
}

CLI::Validator numberIn(double least, double most) {
  return numberThat<double>(
      fmt::format("a number from {} to {}", least, most),
      [least, most](double number) { return number >= least && number <= most; });
}

CLI::Validator positiveNumber() {
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

CLI::Validator sizeOption() {
  return allowing("a number of bytes, as 100kB, 256MB or 2GB",
                  [](const std::string &text) { return sizeFrom(text).has_value(); });
}

CLI::Validator oneOf(std::string kind, std::string plural, std::vector<std::string> names) {
  std::string description = fmt::format("{{{}}}", fmt::join(names, ","));
  return CLI::Validator(
      [kind = std::move(kind), plural = std::move(plural),
       names = std::move(names)](std::string &text) {
        bool isKnown = std::find(names.begin(), names.end(), text) != names.end();
        return isKnown ? std::string() : unknownName(kind, plural, text, viewsOf(names));
      },
      description, "");
}

Option formatOption(std::string &format, std::string help, std::vector<std::string> names) {
  return {"--format", format, std::move(help), oneOf("format", "formats", std::move(names))};
}

void declare(CLI::App &command, std::initializer_list<Option> options, const std::string &title) {
  for (const Option &option : options) {
    CLI::Option *added = option.add(command);
    if (!title.empty()) {
      added->group(title);
    }
  }
}

bool areKnown(const std::vector<std::string> &names, const std::vector<std::string> &known,
              std::string_view kind, std::string_view plural) {
  bool all = true;
  for (const std::string &name : names) {
    if (std::ranges::find(known, name) == known.end()) {
      all = false;
      complain(unknownName(kind, plural, name, viewsOf(known)));
    }
  }
  return all;
}

//===----------------------------------------------------------------------===//
// --diagnostics
//===----------------------------------------------------------------------===//

static constexpr std::string_view diagnosticsOption = "--diagnostics";

void readDiagnosticsOption(int argc, const char *const *argv) {
  for (int i = 1; i < argc; ++i) {
    std::string_view text = argv[i];
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

void refuseIf(CLI::App &command, std::vector<std::string> options, std::string why,
              std::function<bool()> isIdle) {
  rulesOf(command).push_back({std::move(options), std::move(why), std::move(isIdle)});
}

void goesWith(CLI::App &command, std::vector<std::string> options, const std::string &other) {
  refuseIf(command, std::move(options), fmt::format("without '{}'", other),
           [&command, other] { return !isGiven(command, other); });
}

void goesNotWith(CLI::App &command, std::vector<std::string> options, const std::string &other) {
  refuseIf(command, std::move(options), fmt::format("beside '{}'", other),
           [&command, other] { return isGiven(command, other); });
}

void finishOptions(CLI::App &app) {
  static std::string read; // before all others, by readDiagnosticsOption()
  declare(app, {{std::string(diagnosticsOption), read,
                 "messages on stderr as text, or as json: one object a line (docs/guide/Json.md)",
                 oneOf("format", "formats", {"text", "json"})}});
  app.parse_complete_callback([&app] { refuseIdleOptions(app); });
  for (CLI::Option *option : app.get_options()) {
    refuseFlagValue(*option);
  }
  for (CLI::App *below : app.get_subcommands({})) {
    finishOptions(*below);
  }
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

std::string nameOf(const CLI::App &command) {
  const CLI::App *parent = command.get_parent();
  return parent ? fmt::format("{} {}", nameOf(*parent), command.get_name()) : command.get_name();
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

std::vector<std::string> commandsOf(const CLI::App &command) {
  std::vector<std::string> names;
  for (const CLI::App *below : command.get_subcommands({})) {
    if (!below->get_group().empty()) {
      names.push_back(below->get_name());
    }
  }
  return names;
}

/// An argument that the command does not take.
std::string unexpected(const CLI::App &command, const std::string &argument) {
  if (argument.starts_with('-')) {
    std::string name = argument.substr(0, argument.find('='));
    std::vector<std::string> known = optionsOf(command);
    std::string_view nearest = nearestName(name, viewsOf(known));
    return fmt::format("unknown option '{}' of '{}'{}", name, nameOf(command),
                       nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest));
  }
  std::vector<std::string> commands = commandsOf(command);
  return commands.empty()
             ? fmt::format("unexpected argument '{}' of '{}'", argument, nameOf(command))
             : unknownName("command", fmt::format("commands of '{}'", nameOf(command)), argument,
                           viewsOf(commands));
}

/// `tally plan [OPTIONS] kernel [second]`
std::string usageOf(const CLI::App &command) {
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

bool noneIsEmpty(int argc, const char *const *argv) {
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

void tellOptionError(const CLI::App &app, const CLI::ParseError &error) {
  const CLI::App &command = commandOf(app);
  Diagnostics errors;
  std::vector<std::string> unexpectedOnes = app.remaining(/*recurse=*/true);
  for (const std::string &argument : unexpectedOnes) {
    errors.error({}, unexpected(command, argument));
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

} // namespace tally::tool
