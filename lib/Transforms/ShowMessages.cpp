//===- ShowMessages.cpp - What MLIR reports, in our words' style ----------===//

#include "tally/Transforms/ShowMessages.h"

#include "tally/Support/Printable.h"
#include "tally/Support/Quotes.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>

#include <algorithm>

#include <cstdlib>

namespace tally {
namespace {

Severity severityOf(mlir::DiagnosticSeverity severity) {
  return severity == mlir::DiagnosticSeverity::Error     ? Severity::Error
         : severity == mlir::DiagnosticSeverity::Warning ? Severity::Warning
                                                         : Severity::Remark;
}

/// The place of a message: its file is number 0 of `files`, or the last of them.
Location placeOf(mlir::Location location, std::vector<std::string> &files) {
  if (auto where = location->findInstanceOf<mlir::FileLineColLoc>()) {
    files.push_back(where.getFilename().str());
    auto file = static_cast<uint32_t>(files.size() - 1);
    return {file, where.getLine(), std::max(where.getColumn(), 1u)};
  }
  return {};
}

/// The most characters of a source line that a message shows.
constexpr size_t maxShown = 200;

/// Some of a line, and where its first character stands in the line.
struct Excerpt {
  std::string text;
  size_t begin = 0;
};

/// What lies around `column`, from 0, of a line: whole characters of UTF-8, and `?` for each byte
/// of anything else but tabs, so that the mark below it stands right.
Excerpt excerptAround(llvm::StringRef line, size_t column) {
  auto isInside = [&](size_t at) { return at < line.size() && (line[at] & 0xC0) == 0x80; };
  column = std::min(column, line.size());
  size_t begin = column < maxShown / 2 ? 0 : column - maxShown / 2;
  for (; begin > 0 && begin < column && isInside(begin); ++begin) {
  }
  size_t end = std::min(begin + maxShown, line.size());
  for (; end > begin && isInside(end); --end) {
  }
  std::string text = line.slice(begin, end).str();
  for (size_t at = 0; at < text.size();) {
    size_t size = printableSize(std::string_view(text).substr(at));
    text[at] = size != 0 || text[at] == '\t' ? text[at] : '?';
    at += std::max<size_t>(size, 1);
  }
  return {std::move(text), begin};
}

} // namespace

Diagnostic fromMlir(mlir::Diagnostic &diagnostic, std::vector<std::string> &files) {
  Diagnostic message{severityOf(diagnostic.getSeverity()),
                     placeOf(diagnostic.getLocation(), files),
                     diagnostic.str(),
                     {}};
  for (mlir::Diagnostic &note : diagnostic.getNotes()) {
    message.note(placeOf(note.getLocation(), files), note.str());
  }
  return message;
}

bool canShowLines(const Diagnostic &message, const std::vector<std::string> &files) {
  auto hasLine = [](const DiagnosticNote &note) { return note.where.known(); };
  auto isClean = [](const DiagnosticNote &note) { return isPrintable(note.message); };
  return message.where.known() && llvm::all_of(message.notes, hasLine) &&
         isPrintable(message.message) && llvm::all_of(files, isPrintable) &&
         llvm::all_of(message.notes, isClean);
}

static void showOn(llvm::raw_ostream &stream, const llvm::SMDiagnostic &diagnostic) {
  llvm::StringRef line = diagnostic.getLineContents();
  int column = diagnostic.getColumnNo();
  Excerpt shown = excerptAround(line, static_cast<size_t>(std::max(column, 0)));
  std::string message = withShortQuotes(std::string_view(diagnostic.getMessage()));
  if (column < 0 || (llvm::StringRef(shown.text) == line && message == diagnostic.getMessage())) {
    diagnostic.print(nullptr, stream);
    return;
  }
  std::string place = fmt::format("{}:{}:{}", std::string_view(diagnostic.getFilename()),
                                  diagnostic.getLineNo(), column + 1);
  llvm::SMDiagnostic(place, diagnostic.getKind(), message).print(nullptr, stream);
  std::string mark(static_cast<size_t>(column) - shown.begin, ' ');
  stream << shown.text << '\n' << mark << "^\n";
}

void showWithLine(const llvm::SMDiagnostic &diagnostic, void *) {
  const char *unwanted = std::getenv("NO_COLOR"); // https://no-color.org
  if (unwanted && *unwanted != '\0') {
    llvm::errs().enable_colors(false);
  }
  showOn(llvm::errs(), diagnostic);
  llvm::errs().clear_error(); // it would end the program with a status of its own
}

} // namespace tally
