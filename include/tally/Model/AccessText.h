//===- AccessText.h - Tiles as text ---------------------------------------===//
//
// Which elements an instruction touches, as kernels write it:
//
//   X                         all of X
//   X[A mod 2, 0:128]         one row of two, elements 0..127 of it
//   X[2*(A + B), $n:16:4]     16 elements from $n on, every fourth
//   X[total(A) mod 3]         a ring that goes on over all trips of A
//   X[@]                      anything in X, known only at run time
//   X if A == 0               all of X, in the first iteration of A only
//   X[A] if A < trips(A) - 1  one element, in all iterations but the last
//
// Grammar:
//   tile   := name [ '[' ( '@' | dim { ',' dim } ) ']' ] [ 'if' guard { 'and' guard } ]
//   guard  := expr ( '==' | '!=' | '<' | '<=' | '>' | '>=' ) expr
//   dim    := expr [ ':' expr [ ':' integer ] ]      first, how many (1), stride (1)
//   expr   := term { ('+' | '-') term }
//   term   := ['-'] factor { '*' factor | 'mod' integer | 'floordiv' integer }
//   factor := integer | name | '$' name | ( 'total' | 'trips' ) '(' name ')' | '(' expr ')'
//   name   := letter (also beyond ASCII) or '_', then letters, digits, '_', '.';  or "..." with \"
//   and \\ inside
//
// A plain name in an expression is a loop around the instruction: its iteration, from 0.
// total(A) is how often A's body (a loop or branch) was entered before this time, over the
// whole run; trips(A) is how often the loop A runs this time. $n is a run-time value that does not
// change while the kernel runs. One side of `*` is an integer, so every expression is affine except
// for mod and floordiv, which round down. A run touches the tile only if all guards hold.
//
// The core carries tiles through as text. This header is for those who look inside:
// checks, readers, and the search for dependences.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_MODEL_ACCESSTEXT_H
#define TALLY_MODEL_ACCESSTEXT_H

#include "tally/Model/Kernel.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tally {

using TileExprId = Id<struct TileExprTag>;

/// One node of an index expression.
struct TileExpr {
  enum class Kind : uint8_t {
    Constant, ///< value
    Loop,     ///< iteration of the loop `name`, from 0
    Total,    ///< earlier entries of the loop or branch `name`, over the whole run
    Trips,    ///< how often the loop `name` runs this time
    Symbol,   ///< the run-time value `name`
    Add,      ///< a + b
    Sub,      ///< a - b
    Scale,    ///< a * value
    Mod,      ///< a mod value, never negative
    FloorDiv, ///< a / value, rounded down
  };
  Kind kind = Kind::Constant;
  int64_t value = 0;
  TileExprId a;
  TileExprId b;
  uint32_t name = 0; ///< into ParsedAccess::names

  bool operator==(const TileExpr &) const = default;
};

/// Elements first, first + stride, ..., `size` of them.
struct TileDim {
  TileExprId first;
  TileExprId size; ///< none: 1
  int64_t stride = 1;

  /// Whether its elements follow one another.
  bool isRange() const { return !size.valid() || stride == 1; }

  bool operator==(const TileDim &) const = default;
};

/// A comparison that must hold for a run to touch the tile.
struct TileGuard {
  enum class Relation : uint8_t { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual };
  Relation relation = Relation::Equal;
  TileExprId left;
  TileExprId right;

  bool holds(int64_t leftValue, int64_t rightValue) const;

  /// It holds where this one does not.
  TileGuard opposite() const;

  bool operator==(const TileGuard &) const = default;
};

/// As in a tile's text.
std::string_view toString(TileGuard::Relation relation);

struct ParsedAccess {
  std::string buffer;
  bool anywhere = false;     ///< X[@]
  std::vector<TileDim> dims; ///< empty: the whole buffer, or anywhere in it
  std::vector<TileGuard> guards;
  /// Of a condition: its guards stand in groups, of which one is enough, or all must hold. Within a
  /// group, it is the other way around.
  bool isEither = false;
  std::vector<uint32_t> groupEnds; ///< into guards; empty: each guard is a group of its own
  /// Operands before their users; constants that were folded stay behind, unused.
  IdVector<TileExprId, TileExpr> exprs;
  std::vector<std::string> names;

  size_t numGroups() const { return groupEnds.empty() ? guards.size() : groupEnds.size(); }

  std::span<const TileGuard> group(size_t at) const {
    if (groupEnds.empty()) {
      return std::span(guards).subspan(at, 1);
    }
    const uint32_t first = at == 0 ? 0 : groupEnds[at - 1];
    return std::span(guards).subspan(first, groupEnds[at] - first);
  }

  /// Of a condition, by what each of its guards is worth.
  template <typename Holds> bool isMetBy(const Holds &holds) const {
    auto isGroupMet = [&](size_t at) {
      return isEither ? std::ranges::all_of(group(at), holds)
                      : std::ranges::any_of(group(at), holds);
    };
    auto groups = std::views::iota(size_t(0), numGroups());
    return isEither ? std::ranges::any_of(groups, isGroupMet)
                    : std::ranges::all_of(groups, isGroupMet);
  }

  /// Whether an expression, which may be none, is a number.
  bool isConstant(TileExprId id) const {
    return !id.valid() || exprs[id].kind == TileExpr::Kind::Constant;
  }

  bool isConstant(const TileDim &dim) const {
    return isConstant(dim.first) && isConstant(dim.size);
  }
};

/// An expression alone, which says how often a loop runs: the first index of what has no buffer.
std::optional<ParsedAccess> parseFormula(std::string_view text, std::string &error);

/// Its canonical text.
std::string formulaText(const ParsedAccess &formula);

/// Comparisons alone, joined by `and` and `or`, which decide about an `if`: the guards of what has
/// no buffer. `not` becomes the opposite of what it stands before, and what is joined more than
/// twice over is multiplied out:
///
///   a and (b or c)            two groups: a;  b or c
///   a and (b or (c and d))    three:      a;  b or c;  b or d
///
///   condition := clause { 'and' clause } | clause { 'or' clause }
///   clause    := { 'not' } ( guard | '(' condition ')' )
std::optional<ParsedAccess> parseCondition(std::string_view text, std::string &error);

/// Its canonical text.
std::string conditionText(const ParsedAccess &condition);

/// The run-time value that the formula is, and nothing else; empty if it is more.
std::string_view aloneIn(const ParsedAccess &formula);

/// Reads a tile; none and a reason that names the column (from 1) if it is not one.
std::optional<ParsedAccess> parseAccess(std::string_view text, std::string &error);

/// The canonical text: equal tiles of equal form have equal texts, and parsing
/// it gives the same tile again.
std::string toString(const ParsedAccess &access);

} // namespace tally

#endif // TALLY_MODEL_ACCESSTEXT_H
