//===- Tiles.h - Where the tiles of a kernel lie --------------------------===//
//
// Every access with its tile read once, and the box around all places that the tile takes during
// a run. Tiles of equal text in equal bodies are one.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DEPS_TILES_H
#define TALLY_LIB_DEPS_TILES_H

#include "tally/Model/AccessText.h"

#include <span>

namespace tally {

using TileId = Id<struct TileTag>;

/// Numbers from `first` to `last`; at most `endless` away from 0.
struct Bounds {
  static constexpr int64_t endless = int64_t(1) << 60;
  int64_t first = -endless;
  int64_t last = endless;

  bool isEmpty() const { return first > last; }

  bool meets(const Bounds &other) const { return first <= other.last && other.first <= last; }

  bool holds(const Bounds &other) const { return first <= other.first && other.last <= last; }
};

struct Tile {
  BufferId buffer;
  LoopId home;
  uint32_t text = 0;        ///< which ParsedAccess
  uint32_t firstBounds = 0; ///< one for each dimension of the buffer
  Bounds hull;              ///< of the elements' numbers, last dimension fastest
  bool isFixed = false;     ///< the same in every run, and all of its box
};

class Tiles {
public:
  /// Of a kernel that check() accepts.
  explicit Tiles(const Kernel &kernel);

  TileId of(AccessId access) const { return tileOf[access]; }

  const Tile &operator[](TileId id) const { return tiles[id]; }

  const ParsedAccess &parsed(const Tile &tile) const { return texts[tile.text]; }

  size_t numDims(const Tile &tile) const { return kernel.buffers[tile.buffer].shape.size(); }

  std::span<const Bounds> bounds(const Tile &tile) const {
    return {boxes.data() + tile.firstBounds, numDims(tile)};
  }

  /// Whether the boxes of two tiles of one buffer have a common element.
  bool boxesMeet(const Tile &a, const Tile &b) const;

  /// Whether all of b's box is in a's.
  bool boxHolds(const Tile &a, const Tile &b) const;

private:
  Tile read(BufferId buffer, LoopId home, uint32_t text);

  const Kernel &kernel;
  std::vector<ParsedAccess> texts;
  std::vector<Bounds> boxes;
  IdVector<TileId, Tile> tiles;
  IdVector<AccessId, TileId> tileOf;
};

/// a / b, rounded down.
inline int64_t floorDiv(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

/// The loop or branch of this name at or around `home`.
LoopId loopNamed(const Kernel &kernel, LoopId home, std::string_view name);

} // namespace tally

#endif // TALLY_LIB_DEPS_TILES_H
