//===- AccessText.cpp - Reads tiles ---------------------------------------===//
//
// Recursive descent over the characters; the grammar is in the header. Every
// nesting is counted, and a tile has a bounded number of nodes, so that no text can
// exhaust the stack here or in whoever walks the expressions.
//
//===----------------------------------------------------------------------===//

#include "tally/Model/AccessText.h"

#include "AccessWords.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally {

/// Far above what a person or a compiler writes for one tile.
static constexpr size_t maxNodes = 1000;
static constexpr unsigned maxParentheses = 100;

using Relation = TileGuard::Relation;

bool TileGuard::holds(int64_t leftValue, int64_t rightValue) const {
  switch (relation) {
  case Relation::Equal:
    return leftValue == rightValue;
  case Relation::NotEqual:
    return leftValue != rightValue;
  case Relation::Less:
    return leftValue < rightValue;
  case Relation::LessEqual:
    return leftValue <= rightValue;
  case Relation::Greater:
    return leftValue > rightValue;
  case Relation::GreaterEqual:
    return leftValue >= rightValue;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

/// Each function reads one rule at the cursor. After the first error all of them do
/// nothing, so the callers need no checks of their own.
class TileParser {
public:
  TileParser(std::string_view text, std::string &error) : text(text), error(error) {
    error.clear();
  }

  std::optional<ParsedAccess> run() {
    result.buffer = name("the name of a buffer");
    if (accept('[')) {
      indices();
    }
    if (acceptWord("if")) {
      do {
        guard();
      } while (acceptWord("and"));
    }
    if (peek() != '\0' || at < text.size()) {
      fail("expected the end of the tile");
    }
    if (failed()) {
      return std::nullopt;
    }
    return std::move(result);
  }

private:
  using Kind = TileExpr::Kind;

  bool failed() const { return !error.empty(); }

  TileExprId fail(std::string_view what) {
    if (!failed()) {
      error = fmt::format("column {}: {}", at + 1, what);
    }
    return {};
  }

  /// The next character that is no blank; 0 at the end and after an error.
  char peek() {
    if (failed()) {
      return '\0';
    }
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) {
      ++at;
    }
    return at < text.size() ? text[at] : '\0';
  }

  bool accept(char c) {
    if (peek() != c || failed()) {
      return false;
    }
    ++at;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) {
      fail(fmt::format("expected '{}'", c));
    }
  }

  /// The word at the cursor, which stays; empty if there is none.
  std::string_view word() {
    if (!isWordStart(peek())) {
      return {};
    }
    size_t end = at;
    while (end < text.size() && isWordChar(text[end])) {
      ++end;
    }
    return text.substr(at, end - at);
  }

  bool acceptWord(std::string_view expected) {
    if (word() != expected) {
      return false;
    }
    at += expected.size();
    return true;
  }

  std::string quotedName() {
    std::string name;
    for (++at; at < text.size() && text[at] != '"'; ++at) {
      if (text[at] == '\\' && at + 1 < text.size()) {
        ++at;
      }
      name += text[at];
    }
    if (at == text.size()) {
      fail("expected '\"' at the end of the name");
      return name;
    }
    ++at;
    if (name.empty()) {
      fail("expected a name between the quotes");
    }
    return name;
  }

  std::string name(std::string_view what) {
    if (peek() == '"') {
      return quotedName();
    }
    std::string_view plain = word();
    if (plain.empty()) {
      fail(fmt::format("expected {}", what));
    } else if (isReserved(plain)) {
      fail(fmt::format("'{}' is a reserved word; as a name it must be quoted", plain));
    }
    at += failed() ? 0 : plain.size();
    return std::string(plain);
  }

  int64_t integer() {
    if (!isDigit(peek())) {
      fail("expected an integer");
      return 0;
    }
    int64_t value = 0;
    for (; at < text.size() && isDigit(text[at]); ++at) {
      int digit = text[at] - '0';
      if (value > (INT64_MAX - digit) / 10) {
        fail("the integer does not fit in 64 bits");
        return 0;
      }
      value = 10 * value + digit;
    }
    return value;
  }

  int64_t positive(std::string_view what) {
    size_t start = (peek(), at);
    int64_t value = integer();
    if (!failed() && value == 0) {
      at = start;
      fail(fmt::format("{} must be at least 1", what));
    }
    return value;
  }

  /// Behind an index; many who write one have division or remainder in mind as C has them.
  void failAtEnd() {
    if (result.anywhere) {
      fail("expected ']'");
    } else if (peek() == '/') {
      fail("there is no '/'; division is written 'floordiv', and rounds down");
    } else if (peek() == '%') {
      fail("there is no '%'; the remainder is written 'mod'");
    } else {
      fail("expected ',', ':' or ']'");
    }
  }

  void indices() {
    if (accept('@')) {
      result.anywhere = true;
    } else {
      do {
        dimension();
      } while (accept(','));
    }
    if (peek() != ']') {
      failAtEnd();
    }
    accept(']');
  }

  void dimension() {
    TileDim dim;
    dim.first = sum();
    if (accept(':')) {
      size_t start = (peek(), at);
      dim.size = sum();
      if (!failed() && isConstant(dim.size) && result.exprs[dim.size].value < 1) {
        at = start;
        fail("the size of a tile must be at least 1");
      }
      if (accept(':')) {
        dim.stride = positive("a stride");
      }
    }
    if (!failed()) {
      result.dims.push_back(dim);
    }
  }

  void guard() {
    TileGuard guard;
    guard.left = sum();
    guard.relation = relation();
    guard.right = sum();
    if (!failed()) {
      result.guards.push_back(guard);
    }
  }

  Relation relation() {
    peek();
    size_t found = std::size(relationTexts);
    for (size_t i = 0; i < std::size(relationTexts); ++i) {
      bool isLonger = found == std::size(relationTexts) ||
                      relationTexts[i].size() > relationTexts[found].size();
      found = isLonger && text.substr(at).starts_with(relationTexts[i]) ? i : found;
    }
    if (found == std::size(relationTexts)) {
      fail("expected a comparison: '==', '!=', '<', '<=', '>' or '>='");
      return Relation::Equal;
    }
    at += relationTexts[found].size();
    return static_cast<Relation>(found);
  }

  TileExprId add(TileExpr node) {
    if (result.exprs.size() >= maxNodes) {
      return fail(fmt::format("the tile has more than {} terms", maxNodes));
    }
    return failed() ? TileExprId() : result.exprs.push(node);
  }

  bool isConstant(TileExprId id) const { return result.exprs[id].kind == Kind::Constant; }

  TileExprId sum() {
    TileExprId left = product();
    for (char c = peek(); c == '+' || c == '-'; c = peek()) {
      ++at;
      TileExprId right = product();
      left = add({c == '+' ? Kind::Add : Kind::Sub, 0, left, right, 0});
    }
    return left;
  }

  TileExprId product() {
    TileExprId left = accept('-') ? scale(factor(), -1) : factor();
    while (!failed()) {
      if (accept('*')) {
        left = times(left);
      } else if (acceptWord("mod")) {
        left = add({Kind::Mod, positive("a modulus"), left, {}, 0});
      } else if (acceptWord("floordiv")) {
        left = add({Kind::FloorDiv, positive("a divisor"), left, {}, 0});
      } else {
        break;
      }
    }
    return left;
  }

  /// left * the next factor, one of which is an integer.
  TileExprId times(TileExprId left) {
    size_t start = (peek(), at);
    bool negative = accept('-');
    TileExprId right = factor();
    if (failed()) {
      return {};
    }
    if (isConstant(right)) {
      int64_t value = result.exprs[right].value;
      return scale(left, negative ? -value : value);
    }
    if (isConstant(left)) {
      int64_t value = result.exprs[left].value;
      return scale(right, negative ? -value : value);
    }
    at = start;
    return fail("expected an integer: one of the two factors of '*' must be a number");
  }

  TileExprId scale(TileExprId operand, int64_t by) {
    if (failed()) {
      return {};
    }
    TileExpr &node = result.exprs[operand];
    int64_t product = 0;
    if (node.kind == Kind::Constant || node.kind == Kind::Scale) {
      if (__builtin_mul_overflow(node.value, by, &product)) {
        return fail("the product does not fit in 64 bits");
      }
      node.value = product;
      return operand;
    }
    return add({Kind::Scale, by, operand, {}, 0});
  }

  TileExprId factor() {
    if (isDigit(peek())) {
      return add({Kind::Constant, integer(), {}, {}, 0});
    }
    if (accept('(')) {
      return parenthesis();
    }
    if (accept('$')) {
      return named(Kind::Symbol, "the name of a run-time value");
    }
    if (acceptWord("total")) {
      return counted(Kind::Total, "the name of a loop or branch");
    }
    if (acceptWord("trips")) {
      return counted(Kind::Trips, "the name of a loop");
    }
    return named(Kind::Loop, "an integer, a loop, '$', 'total', 'trips' or '('");
  }

  TileExprId counted(Kind kind, std::string_view what) {
    expect('(');
    TileExprId count = named(kind, what);
    expect(')');
    return count;
  }

  TileExprId parenthesis() {
    if (++parentheses > maxParentheses) {
      return fail(fmt::format("more than {} parentheses inside one another", maxParentheses));
    }
    TileExprId inner = sum();
    expect(')');
    --parentheses;
    return inner;
  }

  TileExprId named(Kind kind, std::string_view what) {
    std::string text = name(what);
    if (failed()) {
      return {};
    }
    auto found = std::find(result.names.begin(), result.names.end(), text);
    uint32_t index = static_cast<uint32_t>(found - result.names.begin());
    if (found == result.names.end()) {
      result.names.push_back(std::move(text));
    }
    return add({kind, 0, {}, {}, index});
  }

  std::string_view text;
  std::string &error;
  size_t at = 0;
  unsigned parentheses = 0;
  ParsedAccess result;
};

} // namespace

std::optional<ParsedAccess> parseAccess(std::string_view text, std::string &error) {
  return TileParser(text, error).run();
}

} // namespace tally
