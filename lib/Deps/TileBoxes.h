//===- TileBoxes.h - Where the tiles of a kernel lie ----------------------===//
//
// Every access with its tile read once, and the box around all places that the tile takes during
// a run. Tiles of equal text in equal bodies are one.
//
// The hull of a tile is a range of memory, in which tiles of other buffers may lie, too. It is
// counted in elements where a buffer has its memory for itself; in bytes where it shares memory
// and all is known of that; else all memory of its group is one place.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DEPS_TILEBOXES_H
#define TALLY_LIB_DEPS_TILEBOXES_H

#include "tally/Model/AccessText.h"
#include "tally/Model/Overlap.h"

#include <span>

namespace tally {

using TileId = Id<struct TileTag>;

/// Numbers from `first` to `last`. From -endless on, or up to endless: without a bound.
struct Bounds {
  static constexpr int64_t endless = int64_t(1) << 60;
  int64_t first = -endless;
  int64_t last = endless;

  bool isEmpty() const { return first > last; }

  bool meets(const Bounds &other) const { return first <= other.last && other.first <= last; }

  bool holds(const Bounds &other) const { return first <= other.first && other.last <= last; }
};

/// The elements of one dimension of a tile in the body `home`; empty if it surely has none. Guards
/// are not looked at.
Bounds boundsOf(const Kernel &kernel, LoopId home, const ParsedAccess &access, const TileDim &dim);

struct TileBox {
  BufferId buffer;
  LoopId home;
  uint32_t text = 0;        ///< which ParsedAccess
  uint32_t firstBounds = 0; ///< one for each dimension of the buffer
  Bounds hull;              ///< all of its memory, last dimension fastest
  bool isFixed = false;     ///< the same in every run, and all of its box
  bool isDivergent = false; ///< it depends on counts on which engines may disagree
  bool isSolid = false;     ///< fixed, and all of its hull, which says where it lies
};

class TileBoxes {
public:
  /// Of a kernel that check() accepts.
  explicit TileBoxes(const Kernel &kernel);

  TileId of(AccessId access) const { return tileOf[access]; }

  const TileBox &operator[](TileId id) const { return tiles[id]; }

  size_t size() const { return tiles.size(); }

  const ParsedAccess &parsed(const TileBox &tile) const { return texts[tile.text]; }

  size_t numDims(const TileBox &tile) const { return kernel.buffers[tile.buffer].shape.size(); }

  std::span<const Bounds> bounds(const TileBox &tile) const {
    return {boxes.data() + tile.firstBounds, numDims(tile)};
  }

  /// The buffer whose name stands for all memory that this one shares.
  BufferId groupOf(BufferId buffer) const { return shared.groupOf(buffer); }

  /// What two different buffers have in common.
  InCommon sharing(const TileBox &a, const TileBox &b) const {
    return shared.between(a.buffer, b.buffer);
  }

  /// Whether the boxes of two tiles, whose hulls meet, may have a common element.
  bool boxesMeet(const TileBox &a, const TileBox &b) const;

  /// Whether both are of one buffer and all of b's box is in a's.
  bool boxHolds(const TileBox &a, const TileBox &b) const;

private:
  TileBox read(BufferId buffer, LoopId home, uint32_t text);
  bool isPlaced(BufferId buffer) const;
  Bounds inGroup(BufferId buffer, const Bounds &elements) const;

  const Kernel &kernel;
  SharedMemory shared;
  std::vector<ParsedAccess> texts;
  std::vector<Bounds> boxes;
  IdVector<TileId, TileBox> tiles;
  IdVector<AccessId, TileId> tileOf;
};

/// a / b, rounded down.
inline int64_t floorDiv(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

/// The loop or branch of this name at or around `home`.
LoopId loopNamed(const Kernel &kernel, LoopId home, std::string_view name);

} // namespace tally

#endif // TALLY_LIB_DEPS_TILEBOXES_H
