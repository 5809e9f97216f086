//===- TileBoxes.h - Where the tiles of a kernel lie ----------------------===//
//
// The box around all places that each tile of a kernel (Model/Tiles.h) takes during a run, and in
// each dimension the residues that these have: X[2*i] and X[2*i + 1] never meet.
//
// The hull of a tile is a range of memory, in which tiles of other buffers may lie, too. It is
// counted in elements where a buffer has its memory for itself; in bytes (of each partition) where
// it shares memory and all is known of that. Otherwise all memory of its group is one place.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DEPS_TILEBOXES_H
#define TALLY_LIB_DEPS_TILEBOXES_H

#include "tally/Model/Overlap.h"
#include "tally/Model/Place.h"
#include "tally/Model/Ranges.h"
#include "tally/Model/Tiles.h"
#include "tally/Support/FloorDiv.h"

#include <span>

namespace tally::deps {

/// In one dimension, `width` elements from one of the numbers `residue + k * step` on. Step 0:
/// there is one such number.
struct Lattice {
  int64_t step = 1;
  int64_t residue = 0;
  int64_t width = INT64_MAX;

  /// Whether an element of both can be the same one.
  bool meets(const Lattice &other) const;
};

struct TileBox {
  TileId id;
  BufferId buffer;
  LoopId home;
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

  TileId of(AccessId access) const { return table.of(access); }

  const TileBox &operator[](TileId id) const { return tiles[id]; }

  const BodyTile &read(const TileBox &tile) const { return table[tile.id]; }

  size_t size() const { return tiles.size(); }

  const ParsedAccess &parsed(const TileBox &tile) const { return read(tile).access; }

  size_t numDims(const TileBox &tile) const { return kernel.buffers[tile.buffer].shape.size(); }

  std::span<const Bounds> bounds(const TileBox &tile) const {
    return {boxes.data() + tile.firstBounds, numDims(tile)};
  }

  std::span<const Lattice> lattices(const TileBox &tile) const {
    return {grids.data() + tile.firstBounds, numDims(tile)};
  }

  /// The buffer whose name stands for all memory that this one shares.
  BufferId groupOf(BufferId buffer) const { return shared.groupOf(buffer); }

  /// Whether hulls say where the tiles of a buffer lie: it has its memory for itself, or all is
  /// known of the memory that it shares.
  bool isPlaced(BufferId buffer) const;

  /// What two different buffers have in common.
  InCommon sharing(const TileBox &a, const TileBox &b) const {
    return shared.between(a.buffer, b.buffer);
  }

  /// Whether the boxes of two tiles, whose hulls meet, may have a common element.
  bool boxesMeet(const TileBox &a, const TileBox &b) const;

  /// Whether both are of one buffer and all of b's box is in a's.
  bool boxHolds(const TileBox &a, const TileBox &b) const;

private:
  TileBox boxOf(TileId id, BufferId buffer);
  bool countsDivergent(const BodyTile &tile) const;
  bool takesAllPartitions(BufferId buffer, const Bounds &partitions) const;
  Bounds inGroup(BufferId buffer, const Bounds &elements, const Bounds &partitions) const;

  const Kernel &kernel;
  const TileTable &table;
  SharedMemory shared;
  const IdVector<LoopId, LoopId> divergent;
  std::vector<Bounds> boxes;
  std::vector<Lattice> grids; ///< of the boxes
  IdVector<TileId, TileBox> tiles;
};

} // namespace tally::deps

#endif // TALLY_LIB_DEPS_TILEBOXES_H
