//===- Places.cpp - Messages, at the words that they are about ------------===//

#include "Places.h"

#include <fmt/format.h>

namespace lsp = llvm::lsp;

namespace tally::server {

/// What is quoted first and second: 'y' and 'Y[A + 1]' of "'y' writes 'Y[A + 1]' beyond ...". What
/// follows is seldom about this operation.
static std::vector<std::string_view> quotedIn(std::string_view message) {
  constexpr size_t most = 2;
  std::vector<std::string_view> quoted;
  for (size_t begin = message.find('\'');
       begin != std::string_view::npos && quoted.size() < most;) {
    size_t end = message.find('\'', begin + 1);
    if (end == std::string_view::npos) {
      break;
    }
    quoted.push_back(message.substr(begin + 1, end - begin - 1));
    begin = message.find('\'', end + 1);
  }
  return quoted;
}

static lsp::DiagnosticSeverity severityOf(Severity severity) {
  return severity == Severity::Error     ? lsp::DiagnosticSeverity::Error
         : severity == Severity::Warning ? lsp::DiagnosticSeverity::Warning
                                         : lsp::DiagnosticSeverity::Information;
}

/// The message with the place in front of it.
static std::string elsewhere(Location where, const std::vector<std::string> &files,
                             std::string_view message) {
  return where.known() && where.file < files.size()
             ? fmt::format("{}:{}:{}: {}", files[where.file], where.line, where.column, message)
             : std::string(message);
}

bool Places::isHere(Location where, const std::vector<std::string> &files) const {
  return where.known() && where.file < files.size() && files[where.file] == file();
}

/// Its own name only if nothing more precise stands there.
Span Places::spanIn(const Operation &op, std::string_view message) const {
  std::optional<Span> own;
  for (std::string_view quoted : quotedIn(message)) {
    std::optional<Span> found = findIn(op, quoted);
    if (found && op.name && outline.names()[*op.name].span.begin == found->begin) {
      own = found;
    } else if (found) {
      return *found;
    }
  }
  return own.value_or(op.header);
}

/// A string of an operation, or a name in one.
std::optional<Span> Places::findIn(const Operation &op, std::string_view text) const {
  for (size_t i = op.firstToken; i < op.endToken; ++i) {
    const Token &token = document.tokens()[i];
    if (token.kind == Token::Kind::String && document.text(token.inner()) == text) {
      return token.inner();
    }
  }
  for (size_t i = op.name.value_or(outline.names().size());
       i < outline.names().size() && outline.names()[i].span.begin < op.header.end; ++i) {
    if (outline.names()[i].text == text) {
      return outline.names()[i].span;
    }
  }
  return std::nullopt;
}

Span Places::spanOf(Location where, std::string_view message) const {
  const std::vector<Token> &tokens = document.tokens();
  size_t offset = document.lines().offsetOfMessage(where.line, where.column);
  size_t at = document.tokenAt(offset + 1);
  if (at == tokens.size() || tokens[at].span.begin > offset) { // between two: it is about the end
    at = at == 0 ? 0 : at - 1;
  }
  if (tokens.empty()) {
    return {offset, offset};
  }
  std::optional<size_t> op = outline.operationAt(at);
  return op && outline.operations()[*op].firstToken == at
             ? spanIn(outline.operations()[*op], message)
             : tokens[at].span;
}

lsp::Diagnostic Places::inEditor(const Diagnostic &message,
                                 const std::vector<std::string> &files) const {
  lsp::Diagnostic shown;
  bool here = isHere(message.where, files);
  shown.source = "tally";
  shown.severity = severityOf(message.severity);
  shown.message = here ? message.message : elsewhere(message.where, files, message.message);
  if (here) {
    shown.range = document.lines().rangeOf(spanOf(message.where, message.message));
  }
  std::vector<lsp::DiagnosticRelatedInformation> notes;
  for (const DiagnosticNote &note : message.notes) {
    bool isNoteHere = isHere(note.where, files);
    lsp::Range range =
        isNoteHere ? document.lines().rangeOf(spanOf(note.where, note.message)) : shown.range;
    notes.emplace_back(lsp::Location(uri, range),
                       isNoteHere ? note.message : elsewhere(note.where, files, note.message));
  }
  if (!notes.empty()) {
    shown.relatedInformation = std::move(notes);
  }
  return shown;
}

} // namespace tally::server
