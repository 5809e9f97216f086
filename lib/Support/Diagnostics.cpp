//===- Diagnostics.cpp - Text of errors and remarks -----------------------===//

#include "tally/Support/Places.h"
#include "tally/Support/Printable.h"
#include "tally/Support/Quotes.h"

#include <fmt/format.h>

namespace tally {

static std::string prefix(Location where, const std::vector<std::string> &files) {
  if (!where.known()) {
    bool hasFile = where.file < files.size() && !files[where.file].empty();
    return hasFile ? printable(files[where.file]) + ": " : "";
  }
  return placeText(where, files) + ": ";
}

std::string render(const Diagnostic &diagnostic, const std::vector<std::string> &files) {
  std::string text =
      fmt::format("{}{}: {}\n", prefix(diagnostic.where, files), toString(diagnostic.severity),
                  printable(withShortQuotes(diagnostic.message)));
  for (const DiagnosticNote &note : diagnostic.notes) {
    text += fmt::format("{}note: {}\n", prefix(note.where, files),
                        printable(withShortQuotes(note.message)));
  }
  return text;
}

std::string render(const Diagnostics &diagnostics, const std::vector<std::string> &files) {
  std::string text;
  for (const Diagnostic &diagnostic : diagnostics.all()) {
    text += render(diagnostic, files);
  }
  return text;
}

} // namespace tally
