//===- TileText.h - The expressions of a tile, as isl reads them ------------===//
#ifndef TALLY_LIB_DEPS_TILETEXT_H
#define TALLY_LIB_DEPS_TILETEXT_H

#include "TileBoxes.h"

#include <functional>
#include <optional>
#include <string>

namespace tally::deps {

/// The text of what the expressions of one tile name.
struct SideNames {
  std::function<std::string(LoopId)> iteration;
  std::function<std::string(LoopId)> total;
  std::function<std::string(LoopId)> trips;
  std::function<std::string(RunValueId)> value;
  /// Of run-time values of which nothing is known. None: expressions with them are not asked for.
  std::function<std::string(const std::string &)> symbol = nullptr;
};

/// Whether some leaf of an expression, which may be none, is of a kind that is asked for.
bool hasLeaf(const ParsedAccess &access, TileExprId id,
             const std::function<bool(const TileExpr &)> &asked);

/// Whether it depends on a run-time value of which nothing is known.
inline bool isOpen(const BodyTile &tile, TileExprId id) {
  return hasLeaf(tile.access, id, [&](const TileExpr &node) { return tile.isOpen(node); });
}

class TileText {
public:
  TileText(const BodyTile &tile, const SideNames &names)
      : tile(tile), access(tile.access), names(names) {}

  std::string expr(TileExprId id) const;

  /// The same as factor * (text) + constant.
  struct Sum {
    std::string text; ///< empty: 0
    int64_t factor = 1;
    int64_t constant = 0;
  };

  Sum sum(TileExprId id) const;

  static std::string textOf(const Sum &sum);

  static Sum number(uint64_t number);

  /// `factor`, which is above 0, times a sum.
  static Sum times(uint64_t factor, const Sum &sum);

  /// Two sums, with as large a factor as they have in common.
  static Sum plus(const Sum &a, const Sum &b);

  /// The same with another factor, which divides its own.
  static Sum withFactor(const Sum &sum, int64_t factor);

  /// How many elements. Empty: a run-time value that is not known says what it is; at least 1.
  std::string size(const TileDim &dim) const;

  /// The same, if it is a constant.
  std::optional<int64_t> constantSize(const TileDim &dim) const;

  /// The comparison, in parentheses.
  std::string guard(const TileGuard &guard) const;

private:
  static Sum whole(Sum sum, int64_t modulus);
  static std::string divided(const TileExpr &node, const Sum &sum);

  const BodyTile &tile;
  const ParsedAccess &access;
  const SideNames &names;
};

/// In which iterations the branches around a body are taken; empty: in all, or only the run knows.
std::string takenText(const Kernel &kernel, LoopId home, const SideNames &names);

/// The part of that which is not among the guards of its tiles: one of several comparisons fails.
std::string otherwiseText(const Kernel &kernel, LoopId home, const SideNames &names);

} // namespace tally::deps

#endif // TALLY_LIB_DEPS_TILETEXT_H
