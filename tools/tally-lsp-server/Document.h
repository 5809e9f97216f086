//===- Document.h - A text, and its tokens --------------------------------===//
//
// Any text has tokens, also one that is being typed: what has no meaning is a mark, and a string
// that is not closed ends with its line.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LSP_SERVER_DOCUMENT_H
#define TALLY_LSP_SERVER_DOCUMENT_H

#include "Lines.h"

#include <optional>
#include <string>

namespace tally::server {

struct Token {
  enum class Kind : uint8_t {
    Word,    ///< `tally.instr`, `reads`
    String,  ///< `"load"`; its span has the quotes
    Symbol,  ///< `@k`
    Number,  ///< `16`
    Mark,    ///< `->`, `>=`, and each other character
    Comment, ///< `// ...`
  };
  Kind kind = Kind::Mark;
  Span span;
  bool isClosed = true; ///< of a string

  /// Of a string, what is between the quotes.
  Span inner() const {
    return kind == Kind::String ? Span{span.begin + 1, span.end - (isClosed ? 1 : 0)} : span;
  }
};

class Document {
public:
  explicit Document(std::string text);
  Document(const Document &) = delete;
  Document &operator=(const Document &) = delete;

  std::string_view text() const { return content; }

  std::string_view text(Span span) const {
    return text().substr(span.begin, span.end - span.begin);
  }

  const std::vector<Token> &tokens() const { return list; }

  const Lines &lines() const { return places; }

  /// The first token that ends after this offset, or ends with it: the one that is being typed,
  /// the one around it, or the next. The number of tokens if there is none.
  size_t tokenAt(size_t offset) const;

  /// Whether a token is the first in its line.
  bool beginsLine(size_t token) const;

private:
  std::string content;
  Lines places;
  std::vector<Token> list;
};

} // namespace tally::server

#endif // TALLY_LSP_SERVER_DOCUMENT_H
