//===- AccessText.cpp - Reads tiles ---------------------------------------===//
//
// Recursive descent over the characters; the grammar is in the header. Every
// nesting is counted, and a tile has a bounded number of nodes, so that no text can
// exhaust the stack here or in code that walks the expressions.
//
//===----------------------------------------------------------------------===//

#include "tally/Model/AccessText.h"

#include "AccessWords.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace tally {

using namespace model;

/// Far above what a person or a compiler writes for one tile.
static constexpr size_t maxNodes = 1000;
static constexpr unsigned maxParentheses = 100;
static constexpr size_t maxGuards = 1000; ///< of a condition

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

TileGuard TileGuard::opposite() const {
  constexpr Relation opposites[] = {Relation::NotEqual, Relation::Equal,     Relation::GreaterEqual,
                                    Relation::Greater,  Relation::LessEqual, Relation::Less};
  return {opposites[static_cast<size_t>(relation)], left, right};
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

/// Each function reads one rule at the cursor.
class TileParser : Scanner {
public:
  using Scanner::Scanner;

  std::optional<ParsedAccess> run() {
    result.buffer = name("the name of a buffer");
    if (accept("[")) {
      indices();
    }
    if (acceptWord("if")) {
      guards();
    }
    expectEnd("expected the end of the tile");
    return failed() ? std::nullopt : std::optional(std::move(result));
  }

  std::optional<ParsedAccess> runCondition() {
    const Clause all = condition(false);
    if (peek(); !failed() && at < text.size()) {
      failAtEnd("expected an operator, 'and', 'or' or the end of the condition");
    }
    if (!failed()) {
      setGroups(all);
    }
    return failed() ? std::nullopt : std::optional(std::move(result));
  }

  std::optional<ParsedAccess> runFormula() {
    result.dims.push_back({sum(), {}, 1});
    if (peek(); !failed() && at < text.size()) {
      failAtEnd("expected an operator or the end of the expression");
    }
    return failed() ? std::nullopt : std::optional(std::move(result));
  }

private:
  using Kind = TileExpr::Kind;

  std::string quotedName() {
    std::string name;
    for (++at; at < text.size() && text[at] != '"'; ++at) {
      if (text[at] == '\\' && at + 1 < text.size()) {
        ++at;
      }
      name += text[at];
    }
    if (at == text.size()) {
      return fail("expected '\"' at the end of the name");
    }
    ++at;
    return name.empty() ? fail("expected a name between the quotes") : name;
  }

  std::string name(std::string_view what) {
    if (peek() == '"') {
      return quotedName();
    }
    std::string_view plain = word();
    if (plain.empty()) {
      return fail(fmt::format("expected {}", what));
    }
    if (isReserved(plain)) {
      return fail(fmt::format("'{}' is a reserved word; as a name it must be quoted", plain));
    }
    at += plain.size();
    return std::string(plain);
  }

  int64_t integer() {
    if (!isDigit(peek())) {
      return fail("expected an integer");
    }
    int64_t value = 0;
    for (; at < text.size() && isDigit(text[at]); ++at) {
      int digit = text[at] - '0';
      if (value > (INT64_MAX - digit) / 10) {
        return fail("the integer does not fit in 64 bits");
      }
      value = 10 * value + digit;
    }
    return value;
  }

  int64_t positive(std::string_view what) {
    size_t start = (peek(), at);
    int64_t value = integer();
    return value != 0 ? value : failAt(start, fmt::format("{} must be at least 1", what));
  }

  /// Behind an expression; many who write one have division or remainder in mind as C has them.
  void failAtEnd(std::string_view expected) {
    if (result.anywhere) {
      fail("expected ']'");
    } else if (peek() == '/') {
      fail("there is no '/'; division is written 'floordiv', and rounds down");
    } else if (peek() == '%') {
      fail("there is no '%'; the remainder is written 'mod'");
    } else {
      fail(expected);
    }
  }

  void indices() {
    if (accept("@")) {
      result.anywhere = true;
    } else {
      do {
        dimension();
      } while (accept(","));
    }
    if (!accept("]")) {
      failAtEnd("expected ',', ':' or ']'");
    }
  }

  void dimension() {
    TileDim dim;
    dim.first = sum();
    if (accept(":")) {
      size_t start = (peek(), at);
      dim.size = sum();
      if (!failed() && isConstant(dim.size) && result.exprs[dim.size].value < 1) {
        failAt(start, "the size of a tile must be at least 1");
      }
      if (accept(":")) {
        dim.stride = positive("a stride");
      }
    }
    result.dims.push_back(dim);
  }

  void guards() {
    do {
      result.guards.push_back(guard());
    } while (!failed() && acceptWord("and"));
  }

  /// How comparisons are joined; none: there is one.
  enum class Joint : uint8_t { None, And, Or };

  static Joint negated(Joint joint) {
    return joint == Joint::And ? Joint::Or : joint == Joint::Or ? Joint::And : Joint::None;
  }

  /// One comparison, or several clauses; none of them is joined like these.
  struct Clause {
    Joint joint = Joint::None;
    std::vector<Clause> parts = {};
    TileGuard guard = {};

    void add(Clause part) {
      if (part.joint == joint) {
        std::ranges::move(part.parts, std::back_inserter(parts));
      } else {
        parts.push_back(std::move(part));
      }
    }
  };

  Clause condition(bool isNegated) {
    Clause all = clause(isNegated);
    for (Joint before = Joint::None; !failed();) {
      const size_t start = (peek(), at);
      const Joint joint = acceptWord("and")  ? Joint::And
                          : acceptWord("or") ? Joint::Or
                                             : Joint::None;
      if (joint == Joint::None) {
        break;
      }
      if (before != Joint::None && before != joint) {
        failAt(start, "'and' and 'or' stand side by side; put one of the two in parentheses");
      } else if (before == Joint::None) {
        Clause first = std::move(all);
        all = Clause{isNegated ? negated(joint) : joint};
        all.add(std::move(first));
      }
      before = joint;
      all.add(failed() ? Clause() : clause(isNegated));
    }
    return all;
  }

  Clause clause(bool isNegated) {
    while (acceptWord("not")) {
      isNegated = !isNegated;
    }
    if (holdsComparisons()) {
      accept("(");
      return parenthesis([&] { return condition(isNegated); });
    }
    TileGuard one = guard();
    return {Joint::None, {}, isNegated && !failed() ? one.opposite() : one};
  }

  using Group = std::vector<TileGuard>;

  static size_t sizeOf(const std::vector<Group> &groups) {
    return std::accumulate(groups.begin(), groups.end(), size_t(0),
                           [](size_t sum, const Group &group) { return sum + group.size(); });
  }

  /// The same, in groups that are joined by `outer`. Fewer if they are too many.
  static std::vector<Group> groupsOf(const Clause &clause, Joint outer) {
    if (clause.joint == Joint::None) {
      return {{clause.guard}};
    }
    std::vector<Group> all;
    for (const Clause &part : clause.parts) {
      std::vector<Group> more = groupsOf(part, outer);
      if (clause.joint == outer) {
        std::ranges::move(more, std::back_inserter(all));
      } else {
        all = all.empty() ? std::move(more) : eachWithEach(all, more);
      }
      if (sizeOf(all) > maxGuards) {
        break;
      }
    }
    return all;
  }

  static std::vector<Group> eachWithEach(const std::vector<Group> &left,
                                         const std::vector<Group> &right) {
    std::vector<Group> all;
    for (const Group &first : left) {
      for (const Group &second : right) {
        all.push_back(first);
        all.back().insert(all.back().end(), second.begin(), second.end());
      }
    }
    return all;
  }

  void setGroups(const Clause &all) {
    result.isEither = all.joint == Joint::Or;
    std::vector<Group> groups = groupsOf(all, result.isEither ? Joint::Or : Joint::And);
    if (sizeOf(groups) > maxGuards) {
      fail(
          fmt::format("the condition has more than {} comparisons once 'and' is in 'or' or 'or' in "
                      "'and', and no deeper; put a part of it into a 'tally.if' of its own",
                      maxGuards));
    }
    for (const Group &group : groups) {
      result.guards.insert(result.guards.end(), group.begin(), group.end());
      result.groupEnds.push_back(static_cast<uint32_t>(result.guards.size()));
    }
    if (result.guards.size() == groups.size()) {
      result.groupEnds.clear();
    }
  }

  /// Whether a parenthesis at the cursor does; if not, it is a part of one.
  bool holdsComparisons() {
    if (peek() != '(') {
      return false;
    }
    size_t depth = 1;
    bool isQuoted = false;
    for (size_t i = at + 1; i < text.size() && depth > 0; ++i) {
      const char c = text[i];
      if (c == '"') {
        isQuoted = !isQuoted;
      } else if (isQuoted) {
        i += c == '\\';
      } else if (c == '<' || c == '>' || c == '=' || c == '!') {
        return true;
      } else if (c == '(' || c == ')') {
        depth += c == '(' ? 1 : -1;
      }
    }
    return false;
  }

  TileGuard guard() {
    TileExprId left = sum();
    Relation between = relation();
    return {between, left, sum()};
  }

  /// From behind: '<=' comes before '<'.
  Relation relation() {
    for (size_t i = std::size(relationTexts); i-- > 0;) {
      if (accept(relationTexts[i])) {
        return static_cast<Relation>(i);
      }
    }
    return fail("expected a comparison: '==', '!=', '<', '<=', '>' or '>='");
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
    TileExprId left = accept("-") ? scale(factor(), -1) : factor();
    while (!failed()) {
      if (accept("*")) {
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
    TileExprId right = accept("-") ? scale(factor(), -1) : factor();
    if (failed()) {
      return {};
    }
    if (isConstant(left) && !isConstant(right)) {
      std::swap(left, right);
    }
    return isConstant(right)
               ? scale(left, result.exprs[right].value)
               : failAt(start,
                        "expected an integer: one of the two factors of '*' must be a number");
  }

  TileExprId scale(TileExprId operand, int64_t by) {
    if (failed()) {
      return {};
    }
    TileExpr &node = result.exprs[operand];
    if (node.kind != Kind::Constant && node.kind != Kind::Scale) {
      return add({Kind::Scale, by, operand, {}, 0});
    }
    return __builtin_mul_overflow(node.value, by, &node.value)
               ? fail("the product does not fit in 64 bits")
               : operand;
  }

  TileExprId factor() {
    if (isDigit(peek())) {
      return add({Kind::Constant, integer(), {}, {}, 0});
    }
    if (accept("(")) {
      return parenthesis([&] { return sum(); });
    }
    if (accept("$")) {
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
    expect("(");
    TileExprId count = named(kind, what);
    expect(")");
    return count;
  }

  /// What stands in one, which is open.
  template <typename Read> auto parenthesis(Read read) -> decltype(read()) {
    if (++parentheses > maxParentheses) {
      fail(fmt::format("more than {} parentheses inside one another", maxParentheses));
      return {};
    }
    auto inner = read();
    expect(")");
    --parentheses;
    return inner;
  }

  TileExprId named(Kind kind, std::string_view what) {
    std::string text = name(what);
    auto found = std::find(result.names.begin(), result.names.end(), text);
    uint32_t index = static_cast<uint32_t>(found - result.names.begin());
    if (found == result.names.end()) {
      result.names.push_back(std::move(text));
    }
    return add({kind, 0, {}, {}, index});
  }

  unsigned parentheses = 0;
  ParsedAccess result;
};

} // namespace

std::optional<ParsedAccess> parseAccess(std::string_view text, std::string &error) {
  return TileParser(text, error).run();
}

std::optional<ParsedAccess> parseFormula(std::string_view text, std::string &error) {
  return TileParser(text, error).runFormula();
}

std::optional<ParsedAccess> parseCondition(std::string_view text, std::string &error) {
  return TileParser(text, error).runCondition();
}

std::string_view aloneIn(const ParsedAccess &formula) {
  const TileExpr &node = formula.exprs[formula.dims[0].first];
  return node.kind == TileExpr::Kind::Symbol ? std::string_view(formula.names[node.name])
                                             : std::string_view();
}

} // namespace tally
