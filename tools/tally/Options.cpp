//===- Options.cpp - What values on the command line may be ---------------===//

#include "Options.h"

#include "Messages.h"
#include "tally/Support/Names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
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

/// `isGood(text)`; `allowed` stands in help and in the error.
template <typename IsGood> CLI::Validator allowing(const std::string &allowed, IsGood isGood) {
  return CLI::Validator(
      [allowed, isGood](std::string &text) {
        return isGood(text) ? std::string() : fmt::format("expected {}, found '{}'", allowed, text);
      },
      "", "");
}

std::vector<std::string_view> viewsOf(const std::vector<std::string> &names) {
  return {names.begin(), names.end()};
}

} // namespace

CLI::Validator integerIn(uint64_t least, uint64_t most) {
  std::string allowed = most == UINT64_MAX ? fmt::format("an integer of at least {}", least)
                                           : fmt::format("an integer from {} to {}", least, most);
  return allowing(allowed, [least, most](const std::string &text) {
    std::optional<uint64_t> number = numberFrom<uint64_t>(text);
    return number && *number >= least && *number <= most;
  });
}

CLI::Validator numberIn(double least, double most) {
  return allowing(fmt::format("a number from {} to {}", least, most),
                  [least, most](const std::string &text) {
                    std::optional<double> number = numberFrom<double>(text);
                    return number && *number >= least && *number <= most;
                  });
}

CLI::Validator positiveNumber() {
  return allowing("a number above 0", [](const std::string &text) {
    std::optional<double> number = numberFrom<double>(text);
    return number && std::isfinite(*number) && *number > 0;
  });
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

CLI::Validator formatIn(std::vector<std::string> names) {
  return oneOf("format", "formats", std::move(names));
}

//===----------------------------------------------------------------------===//
// --diagnostics
//===----------------------------------------------------------------------===//

static constexpr std::string_view diagnosticsOption = "--diagnostics";

void addDiagnosticsOption(CLI::App &app) {
  app.add_option_function<std::string>(
         std::string(diagnosticsOption),
         [](const std::string &format) { setMessagesAsJson(format == "json"); },
         "messages on stderr as text, or as json: one object a line (docs/Json.md)")
      ->check(formatIn({"text", "json"}));
  for (CLI::App *below : app.get_subcommands({})) {
    addDiagnosticsOption(*below);
  }
}

/// Of several, the last counts, as for any option.
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
  return parent ? fmt::format("{} {}", nameOf(*parent), command.get_name()) : "tally";
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
    names.push_back(below->get_name());
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

} // namespace

void tellOptionError(const CLI::App &app, const CLI::ParseError &error) {
  const CLI::App &command = commandOf(app);
  std::vector<std::string> unexpectedOnes = app.remaining(/*recurse=*/true);
  for (const std::string &argument : unexpectedOnes) {
    complain(unexpected(command, argument));
  }
  if (unexpectedOnes.empty()) {
    std::string message = error.what();
    message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
    complain(message);
  }
  tellNote(fmt::format("'{} --help' says what there is", nameOf(command)));
}

} // namespace tally::tool
