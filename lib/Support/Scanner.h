//===- Scanner.h - A cursor over a short text -----------------------------===//
//
// What readers of tiles and of expressions share: blanks, signs, words, and one error that names
// its column (from 1). After an error nothing is accepted any more, so readers need no checks of
// their own: they end, and what they return then means nothing.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_SUPPORT_SCANNER_H
#define TALLY_LIB_SUPPORT_SCANNER_H

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace tally {

inline bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

inline bool isWordStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

inline bool isWordChar(char c) {
  return isWordStart(c) || isDigit(c) || c == '.';
}

/// Of names in tiles and expressions: a byte of any sign of UTF-8 beyond ASCII is as good as a
/// letter.
inline bool isNameStart(char c) {
  return isWordStart(c) || static_cast<unsigned char>(c) >= 0x80;
}

inline bool isNameChar(char c) {
  return isNameStart(c) || isWordChar(c);
}

class Scanner {
public:
  Scanner(std::string_view text, std::string &error) : text(text), error(error) { error.clear(); }

protected:
  /// What any rule returns where there is an error.
  struct Nothing {
    template <typename T> operator T() const { return T(); }
  };

  bool failed() const { return !error.empty(); }

  /// Only the first error counts.
  Nothing fail(std::string_view what) {
    if (!failed()) {
      error = fmt::format("column {}: {}", at + 1, what);
    }
    return {};
  }

  /// At an earlier place.
  Nothing failAt(size_t place, std::string_view what) {
    at = failed() ? at : place;
    return fail(what);
  }

  /// The next character that is not a blank; 0 at the end and after an error.
  char peek() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) {
      ++at;
    }
    return at < text.size() && !failed() ? text[at] : '\0';
  }

  bool accept(std::string_view sign) {
    peek();
    if (failed() || !text.substr(at).starts_with(sign)) {
      return false;
    }
    at += sign.size();
    return true;
  }

  void expect(std::string_view sign) {
    if (!accept(sign)) {
      fail(fmt::format("expected '{}'", sign));
    }
  }

  /// The word at the cursor, which stays; empty if there is none.
  std::string_view word() {
    bool isWord = isNameStart(peek());
    size_t end = at;
    while (isWord && end < text.size() && isNameChar(text[end])) {
      ++end;
    }
    return text.substr(at, end - at);
  }

  bool acceptWord(std::string_view expected) { return word() == expected && accept(expected); }

  void expectEnd(std::string_view what) {
    if (peek() != '\0' || at < text.size()) {
      fail(what);
    }
  }

  std::string_view text;
  std::string &error;
  size_t at = 0;
};

} // namespace tally

#endif // TALLY_LIB_SUPPORT_SCANNER_H
