//===- Messages.cpp - What a command says apart from its result -----------===//

#include "Messages.h"

#include "Output.h"

#include "tally/Support/Places.h"
#include "tally/Support/Printable.h"
#include "tally/Support/Quotes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>
#include <unistd.h>
#include <vector>

namespace tally::tool {
namespace {

bool asJson = false;
bool isQuiet = false;

/// A place in a file.
struct NamedAt {
  std::string by;
  Location where;
};

/// By the file that is named there.
std::map<std::string, NamedAt, std::less<>> namedAt;

std::set<std::string> saidRemarks;

/// As compilers do: on a terminal, unless the user does not want it (https://no-color.org).
bool hasColours(FILE *stream) {
  const char *unwanted = std::getenv("NO_COLOR");
  const char *terminal = std::getenv("TERM");
  bool isDumb = !terminal || std::string_view(terminal) == "dumb";
  return isatty(fileno(stream)) && !isDumb && (!unwanted || *unwanted == '\0');
}

/// The first line of a message: `k.mlir:3:5: error: ...`; other lines as they are.
std::string coloured(std::string_view line) {
  static constexpr std::pair<std::string_view, std::string_view> words[] = {
      {"error: ", "31"}, {"warning: ", "35"},   {"remark: ", "34"},
      {"note: ", "36"},  {"verdict: no", "31"}, {"verdict: yes", "32"}};
  for (auto [word, colour] : words) {
    size_t at = line.find(word);
    bool isBehindPlace =
        at != line.npos && at >= 2 && line[0] != ' ' && line.substr(at - 2, 2) == ": ";
    bool begins = at == 0 || isBehindPlace;
    if (begins) {
      return fmt::format("\033[1m{}\033[{}m{}\033[0m\033[1m{}\033[0m", line.substr(0, at), colour,
                         word, line.substr(at + word.size()));
    }
  }
  bool isCaret = !line.empty() && line.find_first_not_of(" ^~") == line.npos;
  return isCaret ? fmt::format("\033[32m{}\033[0m", line) : std::string(line);
}

std::string colouredLines(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    shown += coloured(text.substr(0, end)) + (end < text.size() ? "\n" : "");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return shown;
}

/// Where stderr is closed, what is said is lost, and the exit status still tells.
void say(std::string_view text) {
  static const bool isColoured = hasColours(stderr) && !asJson;
  std::string shown = isColoured ? colouredLines(text) : std::string(text);
  std::fwrite(shown.data(), 1, shown.size(), stderr);
}

void printLine(std::string_view severity, const std::string &place, std::string_view message,
               Json notes) {
  Json object = {{"severity", severity},
                 {"place", Json::parse(place)},
                 {"message", withShortQuotes(message)},
                 {"notes", std::move(notes)}};
  say(dump(object, -1) + "\n");
}

/// Without line and notes.
void tellPlain(std::string_view severity, std::string_view message, std::string_view file = "") {
  if (asJson) {
    Location inFile{0, 0, 0};
    printLine(severity, placeJson(inFile, {std::string(file)}), message, Json::array());
  } else {
    say(fmt::format("{}: {}\n", severity, printable(withShortQuotes(message))));
  }
}

} // namespace

std::string asOnStdout(std::string text) {
  static const bool isColoured = hasColours(stdout);
  return isColoured ? colouredLines(text) : text;
}

void setMessagesAsJson(bool json) {
  asJson = json;
}

bool messagesAsJson() {
  return asJson;
}

void setQuiet(bool quiet) {
  isQuiet = quiet;
}

bool isHidden(Severity severity) {
  return isQuiet && severity == Severity::Remark;
}

void complain(std::string_view message, std::string_view file) {
  auto named = namedAt.find(file);
  if (named == namedAt.end()) {
    return tellPlain("error", message, file);
  }
  Diagnostics diagnostics;
  diagnostics.error(named->second.where, std::string(message));
  tell(diagnostics, {named->second.by});
}

void setNamedAt(const std::string &file, const std::string &by, Location where) {
  namedAt[file] = {by, where};
}

void tellNote(std::string_view message) {
  if (!isQuiet) {
    tellPlain("note", message);
  }
}

void tellProgress(std::string_view message) {
  if (isQuiet) {
    return;
  }
  if (asJson) {
    printLine("progress", "null", message, Json::array());
  } else {
    say(printable(message) + "\n");
  }
}

void tell(const Diagnostic &diagnostic, const std::vector<std::string> &files) {
  if (isHidden(diagnostic.severity)) {
    return;
  }
  std::string text = render(diagnostic, files);
  bool isRemark = diagnostic.severity == Severity::Remark;
  if (isRemark && !saidRemarks.insert(text).second) {
    return; // what is true of each strategy is said once
  }
  if (!asJson) {
    say(text);
    return;
  }
  Json notes = Json::array();
  for (const DiagnosticNote &note : diagnostic.notes) {
    notes.push_back({{"place", Json::parse(placeJson(note.where, files))},
                     {"message", withShortQuotes(note.message)}});
  }
  printLine(toString(diagnostic.severity), placeJson(diagnostic.where, files), diagnostic.message,
            std::move(notes));
}

/// In the order of the text, whichever step found them; what has no place comes last.
void tell(const Diagnostics &diagnostics, const std::vector<std::string> &files) {
  std::vector<const Diagnostic *> inOrder;
  for (const Diagnostic &diagnostic : diagnostics.all()) {
    inOrder.push_back(&diagnostic);
  }
  std::ranges::stable_sort(inOrder, {}, [](const Diagnostic *diagnostic) {
    const Location &where = diagnostic->where;
    return std::tuple(!where.known(), where.file, where.line, where.column);
  });
  for (const Diagnostic *diagnostic : inOrder) {
    tell(*diagnostic, files);
  }
}

void tellLines(std::string_view text) {
  while (asJson && !text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    tellPlain("note", text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  say(text);
}

} // namespace tally::tool
