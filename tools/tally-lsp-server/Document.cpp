//===- Document.cpp - A text, and its tokens ------------------------------===//

#include "Document.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>

namespace tally::server {
namespace {

class Tokenizer {
public:
  explicit Tokenizer(std::string_view text) : text(text) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    while (skipSpace()) {
      tokens.push_back(next());
    }
    return tokens;
  }

private:
  bool skipSpace() {
    while (at < text.size() && llvm::isSpace(text[at])) {
      ++at;
    }
    return at < text.size();
  }

  Token next() {
    const size_t begin = at;
    Token token;
    if (startsWith("//")) {
      token.kind = Token::Kind::Comment;
      at = std::min(text.find_first_of("\r\n", at), text.size());
    } else if (text[at] == '"') {
      token.kind = Token::Kind::String;
      token.isClosed = passString();
    } else if (text[at] == '@') {
      token.kind = Token::Kind::Symbol;
      passSymbol();
    } else if (llvm::isDigit(text[at])) {
      token.kind = Token::Kind::Number;
      passName();
    } else if (llvm::isAlpha(text[at]) || text[at] == '_') {
      token.kind = Token::Kind::Word;
      passName();
    } else {
      at += startsWith("->") || startsWith(">=") ? 2 : 1;
    }
    token.span = {begin, at};
    return token;
  }

  bool startsWith(std::string_view sign) const { return text.substr(at).starts_with(sign); }

  void passName() {
    while (at < text.size() &&
           (llvm::isAlnum(text[at]) || text[at] == '_' || text[at] == '.' || text[at] == '$')) {
      ++at;
    }
  }

  void passSymbol() {
    ++at;
    if (at < text.size() && text[at] == '"') {
      passString();
    } else {
      passName();
    }
  }

  /// False if it is not closed in its line.
  bool passString() {
    for (++at; at < text.size() && text[at] != '\n' && text[at] != '\r'; ++at) {
      if (text[at] == '"') {
        ++at;
        return true;
      }
      bool isPair =
          text[at] == '\\' && at + 1 < text.size() && text[at + 1] != '\n' && text[at + 1] != '\r';
      at += isPair ? 1 : 0;
    }
    return false;
  }

  std::string_view text;
  size_t at = 0;
};

} // namespace

Document::Document(std::string text)
    : content(std::move(text)), places(content), list(Tokenizer(content).run()) {}

size_t Document::tokenAt(size_t offset) const {
  auto found =
      std::ranges::lower_bound(list, offset, {}, [](const Token &t) { return t.span.end; });
  return static_cast<size_t>(found - list.begin());
}

bool Document::beginsLine(size_t token) const {
  size_t line = content.find_last_of("\r\n", list[token].span.begin);
  size_t start = line == std::string::npos ? 0 : line + 1;
  return content.find_first_not_of(" \t", start) == list[token].span.begin;
}

} // namespace tally::server
