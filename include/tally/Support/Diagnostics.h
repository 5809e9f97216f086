//===- Diagnostics.h - Errors, remarks and where they are -----------------===//
//
// The core never prints and never throws for bad input: it collects. A caller
// gets all problems of a run at once, each with its place and with a note at
// every other place involved, and decides how to show them.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_SUPPORT_DIAGNOSTICS_H
#define TALLY_SUPPORT_DIAGNOSTICS_H

#include "tally/Support/Words.h"

#include <cstdint>
#include <iterator>

namespace tally {

/// A place in a source text. `file` indexes the file table of the kernel;
/// line and column count from 1, and line 0 means "nowhere".
struct Location {
  uint32_t file = 0;
  uint32_t line = 0;
  uint32_t column = 0;

  bool known() const { return line != 0; }

  bool operator==(const Location &) const = default;
};

enum class Severity : uint8_t { Error, Warning, Remark };
template <> inline constexpr auto wordsOf<Severity> = words("error", "warning", "remark");

/// A second place that belongs to a diagnostic.
struct DiagnosticNote {
  Location where;
  std::string message;
};

struct Diagnostic {
  Severity severity = Severity::Error;
  Location where;
  std::string message;
  std::vector<DiagnosticNote> notes;

  Diagnostic &note(Location noteWhere, std::string noteMessage) {
    notes.push_back({noteWhere, std::move(noteMessage)});
    return *this;
  }
};

/// All that was found in one run, in the order in which it was found.
class Diagnostics {
public:
  Diagnostic &error(Location where, std::string message) {
    ++errors;
    return add(Severity::Error, where, std::move(message));
  }

  Diagnostic &remark(Location where, std::string message) {
    return add(Severity::Remark, where, std::move(message));
  }

  /// What another run found, after what this one has.
  void append(Diagnostics &&others) {
    errors += others.errors;
    list.insert(list.end(), std::make_move_iterator(others.list.begin()),
                std::make_move_iterator(others.list.end()));
  }

  bool hasErrors() const { return errors != 0; }

  size_t numErrors() const { return errors; }

  const std::vector<Diagnostic> &all() const { return list; }

  /// Null if there is none. More may be noted on it.
  Diagnostic *firstError() {
    auto found = std::ranges::find(list, Severity::Error, &Diagnostic::severity);
    return found == list.end() ? nullptr : &*found;
  }

  /// The message of the first error; empty if there is none.
  std::string reason() const {
    auto found = std::ranges::find(list, Severity::Error, &Diagnostic::severity);
    return found == list.end() ? std::string() : found->message;
  }

private:
  Diagnostic &add(Severity severity, Location where, std::string message) {
    list.push_back({severity, where, std::move(message), {}});
    return list.back();
  }

  std::vector<Diagnostic> list;
  size_t errors = 0;
};

/// One diagnostic in clang's style, notes included, each line ended.
std::string render(const Diagnostic &diagnostic, const std::vector<std::string> &files);

/// All of them, in order.
std::string render(const Diagnostics &diagnostics, const std::vector<std::string> &files);

} // namespace tally

#endif // TALLY_SUPPORT_DIAGNOSTICS_H
