//===- Tiles.h - The tiles of a kernel, read once -------------------------===//
//
// What a tile's text means depends on the body that it stands in: a name is the loop or branch of
// that name around. Both are looked up when a kernel is finished, once for all texts that are equal
// in one body, so that code that wants the place of a tile in an iteration has only numbers to
// combine:
//
//   X[2*A + B]  in B, in A       2 * indexOf(A).iteration + indexOf(B).iteration
//
// Texts that are not tiles, and names that are not loops around, stay in the table, marked: check()
// reports them, and no other code sees such a kernel.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_MODEL_TILES_H
#define TALLY_MODEL_TILES_H

#include "tally/Model/AccessText.h"

#include <map>
#include <span>

namespace tally {

/// Where one of the loops around an instruction is.
struct LoopIndex {
  int64_t iteration = 0; ///< from 0
  int64_t total = 0;     ///< earlier entries over the whole run
  int64_t trips = 0;     ///< how often it runs this time
};

/// `a kind b`, as 64 bits hold it: check() has seen to it that they do.
int64_t combined(TileExpr::Kind kind, int64_t a, int64_t b);

/// The value of an expression, where `leaf(node)` is that of a loop's count or a run-time value;
/// none if it depends on one that has none.
template <typename Leaf>
std::optional<int64_t> valueOf(const ParsedAccess &access, TileExprId id, const Leaf &leaf) {
  const TileExpr &node = access.exprs[id];
  switch (node.kind) {
  case TileExpr::Kind::Constant:
    return node.value;
  case TileExpr::Kind::Loop:
  case TileExpr::Kind::Total:
  case TileExpr::Kind::Trips:
  case TileExpr::Kind::Symbol:
    return leaf(node);
  default:
    break;
  }
  std::optional<int64_t> a = valueOf(access, node.a, leaf);
  std::optional<int64_t> b = node.b.valid() ? valueOf(access, node.b, leaf) : node.value;
  return a && b ? std::optional(combined(node.kind, *a, *b)) : std::nullopt;
}

/// A tile in one body. What the branches around it say of the iterations in which they are taken
/// follows its own guards, as far as comparisons that all hold can say it: not where one of several
/// is enough, or fails. So two tiles meet, and a tile leaves its buffer, only where it is reached.
struct BodyTile {
  LoopId home;
  NameId text;
  ParsedAccess access;
  std::string problem;            ///< why the text is not a tile; empty if it is one
  uint32_t numOwnGuards = 0;      ///< that its text has
  std::vector<LoopId> loops;      ///< by name: the loop or branch around; none if there is none
  std::vector<RunValueId> values; ///< by name: the value `$name`; none if nothing is known of it

  /// Those that its text has: in the branches around it, all others hold.
  std::span<const TileGuard> ownGuards() const {
    return std::span(access.guards).first(numOwnGuards);
  }

  /// What a Loop, Total or Trips counts.
  LoopId loopOf(const TileExpr &node) const { return loops[node.name]; }

  /// Of a Symbol; none if nothing is known of it.
  RunValueId valueOf(const TileExpr &node) const { return values[node.name]; }

  /// Whether it is a run-time value of which nothing is known.
  bool isOpen(const TileExpr &node) const {
    return node.kind == TileExpr::Kind::Symbol && !valueOf(node).valid();
  }

  /// The value in an iteration: `indexOf(loop)` gives the LoopIndex of each loop around, `known`
  /// the values of the kernel. None if it depends on a run-time value of which nothing is known.
  template <typename IndexOf>
  std::optional<int64_t> valueAt(TileExprId id, const IndexOf &indexOf,
                                 std::span<const int64_t> known) const {
    return tally::valueOf(access, id, [&](const TileExpr &leaf) -> std::optional<int64_t> {
      switch (leaf.kind) {
      case TileExpr::Kind::Loop:
        return indexOf(loopOf(leaf)).iteration;
      case TileExpr::Kind::Total:
        return indexOf(loopOf(leaf)).total;
      case TileExpr::Kind::Trips:
        return indexOf(loopOf(leaf)).trips;
      default:
        return isOpen(leaf) ? std::nullopt : std::optional(known[valueOf(leaf).value]);
      }
    });
  }

  /// How many elements of a dimension.
  template <typename IndexOf>
  std::optional<int64_t> sizeAt(const TileDim &dim, const IndexOf &indexOf,
                                std::span<const int64_t> known) const {
    return dim.size.valid() ? valueAt(dim.size, indexOf, known) : 1;
  }

  /// Of a condition, in the branch that is taken if it holds, or in the other one: whether all of
  /// its groups hold there, or fail. If not, one of them does.
  bool decidesAllGroups(bool holds) const {
    return access.numGroups() == 1 || holds != access.isEither;
  }

  /// Whether it decides for the first branch. It names values that are known.
  template <typename IndexOf>
  bool isMet(const IndexOf &indexOf, std::span<const int64_t> known) const {
    return access.isMetBy([&](const TileGuard &guard) {
      return guard.holds(*valueAt(guard.left, indexOf, known),
                         *valueAt(guard.right, indexOf, known));
    });
  }

  /// Whether all guards hold; one that depends on a run-time value may.
  template <typename IndexOf>
  bool mayHold(const IndexOf &indexOf, std::span<const int64_t> known) const {
    for (const TileGuard &guard : access.guards) {
      std::optional<int64_t> left = valueAt(guard.left, indexOf, known);
      std::optional<int64_t> right = valueAt(guard.right, indexOf, known);
      if (left && right && !guard.holds(*left, *right)) {
        return false;
      }
    }
    return true;
  }
};

/// Why this tile of `buffer` cannot stand in its body: it names a loop that is not around it, or
/// has the wrong number of dimensions. Empty if it can.
std::string tileProblem(const Kernel &kernel, const Buffer &buffer, const BodyTile &tile);

/// Why this formula cannot say how often a loop runs, or this condition not decide about an `if`;
/// empty if it can.
std::string controlProblem(const Kernel &kernel, const BodyTile &decides);

/// All tiles of a kernel, and the formulas of its loops; its accesses know theirs by number, in the
/// order of their first ones.
class TileTable {
public:
  explicit TileTable(const Kernel &kernel);

  TileId of(AccessId access) const { return tileOf[access]; }

  const BodyTile &operator[](TileId id) const { return tiles[id]; }

  const BodyTile &operator[](AccessId access) const { return tiles[tileOf[access]]; }

  /// How often a loop with a Formula runs: the first index of what stands in the body around it.
  const BodyTile &formulaOf(LoopId loop) const { return formulas.at(loop); }

  /// Whose guards decide about an `if`, in the body around it; asked for either branch that has a
  /// condition.
  const BodyTile &conditionOf(LoopId branch) const { return conditions.at(branch); }

  size_t size() const { return tiles.size(); }

  /// To one that says the same.
  void change(TileId id, BodyTile tile) { tiles[id] = std::move(tile); }

private:
  IdVector<TileId, BodyTile> tiles;
  IdVector<AccessId, TileId> tileOf;
  std::map<LoopId, BodyTile> formulas;
  std::map<LoopId, BodyTile> conditions;
};

} // namespace tally

#endif // TALLY_MODEL_TILES_H
