//===- TileText.h - The expressions of a tile, as isl reads them ------------===//
#ifndef TALLY_LIB_DEPS_TILETEXT_H
#define TALLY_LIB_DEPS_TILETEXT_H

#include "TileBoxes.h"

#include <functional>
#include <optional>
#include <string>

namespace tally {

/// The text of what the expressions of one tile name.
struct SideNames {
  std::function<std::string(LoopId)> iteration;
  std::function<std::string(LoopId)> total;
  std::function<std::string(LoopId)> trips;
  /// None: expressions with run-time values are not asked for.
  std::function<std::string(const std::string &)> symbol = nullptr;
};

/// Whether some leaf of an expression, which may be none, is of a kind that is asked for.
bool hasLeaf(const ParsedAccess &access, TileExprId id,
             const std::function<bool(const TileExpr &)> &asked);

inline bool hasSymbol(const ParsedAccess &access, TileExprId id) {
  return hasLeaf(access, id,
                 [](const TileExpr &node) { return node.kind == TileExpr::Kind::Symbol; });
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

  /// How many elements. Empty: a run-time value without a text says what it is; it is at least 1.
  std::string size(const TileDim &dim) const;

  /// The same, if it is a constant.
  std::optional<int64_t> constantSize(const TileDim &dim) const;

  /// The comparison, in parentheses.
  std::string guard(const TileGuard &guard) const;

private:
  const BodyTile &tile;
  const ParsedAccess &access;
  const SideNames &names;
};

} // namespace tally

#endif // TALLY_LIB_DEPS_TILETEXT_H
