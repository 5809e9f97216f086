//===- PlainTiles.cpp - Tiles without what changes nothing ------------------===//

#include "PlainTiles.h"

#include "Isl.h"
#include "LeavingText.h"

#include <algorithm>
#include <unordered_map>

namespace tally::deps {
namespace {

constexpr uint64_t maxOperations = 20'000;
constexpr size_t mostQuestions = 1000; ///< different ones
constexpr uint32_t mostSplits = 6;

class IdleFinder {
public:
  explicit IdleFinder(const Kernel &kernel) : kernel(kernel) {}

  /// Of a tile's guards, those that some run may fail, though it meets all others of them.
  void keepLasting(const TileBox &tile, BodyTile &read) {
    BodyTile failing = read; // one guard fails, and the others hold
    std::vector<TileGuard> &guards = failing.access.guards;
    for (size_t g = 0; g < guards.size();) {
      guards[g] = guards[g].opposite();
      bool isIdle = neverTouches(tile, failing);
      guards[g] = guards[g].opposite();
      if (isIdle) {
        guards.erase(guards.begin() + static_cast<std::ptrdiff_t>(g));
        read.numOwnGuards -= g < read.numOwnGuards ? 1 : 0;
      } else {
        ++g;
      }
    }
    read.access.guards = guards;
  }

private:
  /// False where it is not known.
  bool neverTouches(const TileBox &tile, const BodyTile &read) {
    LeavingText text(kernel, tile, read, std::nullopt);
    if (text.numSplits() > mostSplits) {
      return false;
    }
    std::string question = text.touchingAtAll();
    auto found = answers.find(question);
    if (found != answers.end() || answers.size() == mostQuestions) {
      return found != answers.end() && found->second;
    }
    isl.startQuestion(maxOperations);
    bool isEmpty = isl.parse(question).isEmpty() && !isl.gaveUp();
    answers.emplace(std::move(question), isEmpty);
    return isEmpty;
  }

  const Kernel &kernel;
  IslContext isl;
  std::unordered_map<std::string, bool> answers;
};

/// The number that a leaf is in every run; none if it differs from run to run.
std::optional<uint64_t> numberOf(const Kernel &kernel, const BodyTile &tile, const TileExpr &leaf) {
  if (leaf.kind == TileExpr::Kind::Trips) {
    return kernel.loops[tile.loopOf(leaf)].knownTrips();
  }
  if (leaf.kind != TileExpr::Kind::Symbol || !tile.valueOf(leaf).valid()) {
    return std::nullopt;
  }
  const RunValue &value = kernel.values[tile.valueOf(leaf)];
  return value.max == value.min ? value.max : std::nullopt;
}

bool hasNumbers(const Kernel &kernel, const BodyTile &tile) {
  return std::ranges::any_of(tile.access.exprs, [&](const TileExpr &leaf) {
    return numberOf(kernel, tile, leaf).has_value();
  });
}

TileExpr constant(int64_t number) {
  TileExpr node;
  node.value = number;
  return node;
}

/// Puts in the numbers, and whatever follows from numbers alone.
void putInNumbers(const Kernel &kernel, BodyTile &tile) {
  bool isChanged = false;
  for (TileExpr &node : tile.access.exprs) { // operands come first
    if (std::optional<uint64_t> number = numberOf(kernel, tile, node)) {
      node = constant(static_cast<int64_t>(*number));
      isChanged = true;
    }
    auto isNumber = [&](TileExprId id) { return tile.access.isConstant(id); };
    if (isChanged && node.a.valid() && isNumber(node.a) && isNumber(node.b)) {
      const int64_t a = tile.access.exprs[node.a].value;
      const int64_t b = node.b.valid() ? tile.access.exprs[node.b].value : node.value;
      node = constant(combined(node.kind, a, b));
    }
  }
}

} // namespace

std::optional<Kernel> withPlainTiles(const Kernel &kernel) {
  const TileTable &tiles = *kernel.tiles;
  std::shared_ptr<TileTable> plain;
  auto change = [&](TileId id, BodyTile tile) {
    plain = plain ? plain : std::make_shared<TileTable>(tiles);
    plain->change(id, std::move(tile));
  };
  std::optional<IdleFinder> finder;
  std::vector<bool> isDone(tiles.size());
  for (AccessId access : kernel.accesses.ids()) {
    const TileId id = tiles.of(access);
    if (isDone[id.value]) {
      continue;
    }
    isDone[id.value] = true;
    const size_t numGuards = tiles[id].access.guards.size();
    bool isChanged = hasNumbers(kernel, tiles[id]);
    if (!isChanged && numGuards == 0) {
      continue; // most are so: they are not copied
    }
    BodyTile tile = tiles[id];
    putInNumbers(kernel, tile);
    if (numGuards != 0) {
      if (!finder) {
        finder.emplace(kernel);
      }
      const TileBox box{
          .id = id, .buffer = kernel.accesses[access].buffer, .home = tile.home, .hull = {}};
      finder->keepLasting(box, tile);
      isChanged |= tile.access.guards.size() < numGuards;
    }
    if (isChanged) {
      change(id, std::move(tile));
    }
  }
  if (!plain) {
    return std::nullopt;
  }
  Kernel result = kernel;
  result.tiles = std::move(plain);
  return result;
}

} // namespace tally::deps
