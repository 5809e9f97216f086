//===- ManualPage.cpp - A command as a page of the manual -----------------===//

#include "ManualPage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tally::tool {
namespace {

/// Text in which nothing is a macro or an escape. Hyphens stay as they are typed: readers copy
/// them.
std::string escaped(std::string_view text) {
  std::string safe;
  for (char letter : text) {
    if (letter == '\\') {
      safe += "\\e";
    } else if (letter == '-') {
      safe += "\\-";
    } else if ((letter == '.' || letter == '\'') && (safe.empty() || safe.back() == '\n')) {
      safe += fmt::format("\\&{}", letter);
    } else {
      safe += letter;
    }
  }
  return safe;
}

std::string bold(std::string_view text) {
  return fmt::format("\\fB{}\\fR", escaped(text));
}

std::string section(std::string_view title) {
  return fmt::format(".SH {}\n", title);
}

/// `--sync=TEXT`, `--certify[=TEXT]`, `kernel`
std::string synopsis(const CommandOption &option) {
  std::vector<std::string> names;
  for (const std::string &name : option.names) {
    names.push_back(bold(name));
  }
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  if (option.isPositional || option.isFlag()) {
    return text;
  }
  return fmt::format(fmt::runtime(option.mayLackValue ? "{}[=\\fI{}\\fR]" : "{}=\\fI{}\\fR"), text,
                     option.value);
}

std::string entry(const CommandOption &option) {
  std::string text = fmt::format(".TP\n{}\n{}\n", synopsis(option), escaped(option.help));
  if (!option.suggestions.empty()) {
    text += fmt::format(".br\nvalues: {}\n",
                        escaped(fmt::format("{}", fmt::join(option.suggestions, ", "))));
  }
  if (!option.byDefault.empty()) {
    text += fmt::format(".br\ndefault: {}\n", escaped(option.byDefault));
  }
  return text;
}

/// Arguments first, then options, those with a title below it.
std::string entries(const CommandTree &command) {
  std::string arguments, options, titled, title;
  for (const CommandOption &option : command.options) {
    if (option.isPositional) {
      arguments += entry(option);
    } else if (option.title.empty()) {
      options += entry(option);
    } else {
      titled += option.title == title ? "" : fmt::format(".SS {}\n", escaped(option.title));
      titled += entry(option);
      title = option.title;
    }
  }
  return (arguments.empty() ? "" : section("ARGUMENTS") + arguments) + section("OPTIONS") +
         options + titled;
}

std::string commandEntries(const CommandTree &command) {
  std::string text;
  for (const CommandTree &below : command.commands) {
    text += fmt::format(".TP\n{}(1)\n{}\n", bold(manualName(below)), escaped(below.summary));
  }
  return text.empty() ? "" : section("COMMANDS") + text;
}

/// The first line of a paragraph as the title of a section; none if it is a sentence.
std::string titleOf(std::string_view paragraph) {
  if (paragraph.starts_with("Examples:")) {
    return "EXAMPLES";
  }
  return paragraph.starts_with("Exit status") ? "EXIT STATUS" : "";
}

/// Lines as they are; the help has set them.
std::string asSet(std::string_view text) {
  return fmt::format(".nf\n{}\n.fi\n", escaped(text));
}

std::string footer(std::string_view text) {
  std::string notes, sections;
  while (!text.empty()) {
    size_t end = std::min(text.find("\n\n"), text.size());
    std::string_view paragraph = text.substr(0, end);
    text.remove_prefix(std::min(end + 2, text.size()));
    if (std::string title = titleOf(paragraph); title == "EXAMPLES") {
      sections += section(title) + asSet(paragraph.substr(paragraph.find('\n') + 1));
    } else if (!title.empty()) {
      sections += section(title) + asSet(paragraph);
    } else {
      notes += fmt::format(".PP\n{}\n", escaped(paragraph));
    }
  }
  return (notes.empty() ? "" : section("NOTES") + notes) + sections;
}

/// The command around it.
std::string seeAlso(const CommandTree &command) {
  size_t last = command.path.rfind(' ');
  std::string around = last == command.path.npos ? "" : command.path.substr(0, last);
  std::ranges::replace(around, ' ', '-');
  return around.empty() ? "" : fmt::format("{}{}(1)\n", section("SEE ALSO"), bold(around));
}

} // namespace

std::string manualName(const CommandTree &command) {
  std::string name = command.path;
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string manualPage(const CommandTree &command) {
  std::string name = manualName(command);
  std::string title = name;
  std::ranges::transform(title, title.begin(), [](char letter) {
    return letter >= 'a' && letter <= 'z' ? char(letter - 32) : letter;
  });
  return fmt::format(".TH {} 1 \"\" \"{}\"\n", escaped(title), escaped(command.version)) +
         section("NAME") + fmt::format("{} \\- {}\n", escaped(name), escaped(command.summary)) +
         section("SYNOPSIS") + fmt::format("{}\n", bold(command.usage)) + commandEntries(command) +
         entries(command) + footer(command.footer) + seeAlso(command);
}

} // namespace tally::tool
