//===- Messages.cpp - What a command says apart from its result -----------===//

#include "Messages.h"

#include "Output.h"

#include "tally/Support/Places.h"
#include "tally/Support/Printable.h"
#include "tally/Support/Quotes.h"

#include <fmt/format.h>

#include <cstdio>
#include <map>

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

/// Where stderr is closed, what is said is lost, and the exit status still tells.
void say(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
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
  if (!asJson) {
    say(render(diagnostic, files));
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

void tell(const Diagnostics &diagnostics, const std::vector<std::string> &files) {
  for (const Diagnostic &diagnostic : diagnostics.all()) {
    tell(diagnostic, files);
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
