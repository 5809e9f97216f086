//===- CountedTiles.h - Tiles by entries that are counted, walked -----------===//
//
// How often a body was entered before, `total(j)`, has no formula where the trips of loops around
// follow from formulas:
//
//   i trips 4 { j trips = "i + 1" { X[total(j) mod 4] } }     10 entries of j, so X has slot 3
//
// Whether such a tile leaves its buffer is found by walking the loops, once for each choice of
// values. Where several ways are open, as trips "n" min 1 max 2 or a branch, all are gone at once:
// the walk has the set of all counts that are possible there.
//
// Exact, both ways, where all trips and values have bounds and the walk takes few steps. Otherwise
// what it sees to leave its buffer does, in that run.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DEPS_COUNTEDTILES_H
#define TALLY_LIB_DEPS_COUNTEDTILES_H

#include "TileBoxes.h"
#include "tally/Model/Outside.h"

#include <map>
#include <optional>

namespace tally::deps {

/// What the walk says of one dimension of one tile.
struct CountedAnswer {
  bool isAll = false;                ///< every run was walked
  std::optional<OutsideRun> first;   ///< one that leaves; instruction and access are not told
  std::optional<uint64_t> enoughMax; ///< of the one value without `max`: no run up to it leaves
};

/// Whether the tile names a count that no formula gives, and nothing of which nothing is known.
bool isCounted(const Kernel &kernel, const BodyTile &tile);

/// For the tiles among these that are counted, by tile and dimension.
std::map<std::pair<TileId, uint32_t>, CountedAnswer>
walkCounted(const Kernel &kernel, const TileBoxes &tiles, const std::vector<TileId> &asked);

} // namespace tally::deps

#endif // TALLY_LIB_DEPS_COUNTEDTILES_H
