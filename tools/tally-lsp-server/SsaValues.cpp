//===- SsaValues.cpp - `%v` of the scf form, and where it is made ---------===//

#include "SsaValues.h"

namespace tally::server {
namespace {

/// Words of tokens by their number; what is outside of the text is empty.
class Values {
public:
  explicit Values(const Document &document) : document(document) {}

  /// `%` and, right behind it, a name.
  std::optional<Span> at(size_t token) const {
    if (textOf(token) != "%" || textOf(token + 1).empty()) {
      return std::nullopt;
    }
    Span mark = document.tokens()[token].span;
    Span name = document.tokens()[token + 1].span;
    return mark.end == name.begin ? std::optional(Span{mark.begin, name.end}) : std::nullopt;
  }

  /// `%v = ...`, `%v:2 = ...`, or an argument: `(%v: i32`.
  bool isMade(size_t token) const {
    std::string_view before = token == 0 ? std::string_view() : textOf(token - 1);
    std::string_view behind = textOf(token + 2);
    bool isMany = behind == ":" && textOf(token + 4) == "=";
    bool isArgument = behind == ":" && (before == "(" || before == ",");
    return (behind == "=" && textOf(token + 3) != "=") || isMany || isArgument;
  }

private:
  std::string_view textOf(size_t token) const {
    return token < document.tokens().size() ? document.text(document.tokens()[token].span)
                                            : std::string_view();
  }

  const Document &document;
};

} // namespace

std::optional<Span> madeAt(const Document &document, size_t offset) {
  const Values values(document);
  size_t token = document.tokenAt(offset);
  std::optional<Span> value = values.at(token);
  if (!value && token > 0) {
    value = values.at(--token);
  }
  if (!value || !value->touches(offset)) {
    return std::nullopt;
  }
  for (size_t i = token + 1; i-- > 0;) {
    std::optional<Span> other = values.at(i);
    if (other && document.text(*other) == document.text(*value) && values.isMade(i)) {
      return other;
    }
  }
  return std::nullopt;
}

} // namespace tally::server
