//===- TileBoxes.cpp - Where the tiles of a kernel lie --------------------===//

#include "TileBoxes.h"

#include <algorithm>

namespace tally::deps {

//===----------------------------------------------------------------------===//
// TileBoxes
//===----------------------------------------------------------------------===//

TileBoxes::TileBoxes(const Kernel &kernel)
    : kernel(kernel), table(*kernel.tiles), shared(kernel), divergent(divergentLoops(kernel)) {
  for (AccessId a : kernel.accesses.ids()) {
    if (table.of(a).value == tiles.size()) {
      tiles.push(boxOf(table.of(a), kernel.accesses[a].buffer));
    }
  }
}

static_assert(maxMemory < Bounds::endless, "what lies in a buffer has bounds");

/// Whether it names a total or a number of trips that may differ from engine to engine.
bool TileBoxes::countsDivergent(const BodyTile &tile) const {
  return std::ranges::any_of(tile.access.exprs, [&](const TileExpr &node) {
    return (node.kind == TileExpr::Kind::Total || node.kind == TileExpr::Kind::Trips) &&
           divergent[tile.loopOf(node)].valid();
  });
}

TileBox TileBoxes::boxOf(TileId id, BufferId buffer) {
  const std::vector<uint64_t> &shape = kernel.buffers[buffer].shape;
  const BodyTile &read = table[id];
  const ParsedAccess &access = read.access;
  TileBox tile{id, buffer, read.home, static_cast<uint32_t>(boxes.size()), {0, 0}};
  tile.isFixed = !access.anywhere && access.guards.empty();
  tile.isDivergent = countsDivergent(read);
  int64_t numElements = 1;
  int64_t totalElements = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    Bounds all{0, static_cast<int64_t>(std::min<uint64_t>(shape[d], Bounds::endless)) - 1};
    Bounds bounds = all;
    if (!access.dims.empty()) {
      const TileDim &dim = access.dims[d];
      bounds = boundsOf(kernel, read, dim);
      bool isExact = bounds.first > -Bounds::endless && bounds.last < Bounds::endless;
      tile.isFixed &= access.isConstant(dim) && dim.isRange() && isExact;
    }
    boxes.push_back(access.dims.empty() ? Bounds{} : bounds); // all: also what lies beyond the end
    numElements = product(numElements, bounds.last - bounds.first + 1);
    int64_t extent = all.last + 1;
    totalElements = std::min(product(totalElements, extent), Bounds::endless);
    tile.hull = bounds.isEmpty() || tile.hull.isEmpty() ? Bounds{0, -1}
                                                        : sum(scaled(tile.hull, extent), bounds);
  }
  tile.isSolid =
      tile.isFixed && isPlaced(buffer) && tile.hull.last - tile.hull.first + 1 == numElements;
  if (!tile.hull.isEmpty()) {
    // A tile beyond the end meets those of all the buffer.
    tile.hull = {std::min(tile.hull.first, totalElements - 1),
                 std::max<int64_t>(tile.hull.last, 0)};
    tile.hull = inGroup(buffer, tile.hull);
  }
  return tile;
}

bool TileBoxes::isPlaced(BufferId buffer) const {
  return shared.isAlone(buffer) || shared.isKnown(shared.groupOf(buffer));
}

Bounds TileBoxes::inGroup(BufferId buffer, const Bounds &elements) const {
  if (!isPlaced(buffer)) {
    return {0, 0};
  }
  if (shared.isAlone(buffer)) {
    return elements;
  }
  int64_t bytes = static_cast<int64_t>(*elementBytes(kernel, buffer));
  uint64_t address = *kernel.buffers[buffer].address;
  int64_t start = static_cast<int64_t>(std::min<uint64_t>(address, Bounds::endless));
  Bounds first = scaled({elements.first, elements.first}, bytes);
  Bounds end = scaled({elements.last + 1, elements.last + 1}, bytes);
  return sum({start, start}, {first.first, end.last - 1});
}

bool TileBoxes::boxesMeet(const TileBox &a, const TileBox &b) const {
  if (a.buffer != b.buffer) {
    return sharing(a, b) != InCommon::Nothing;
  }
  return std::ranges::equal(bounds(a), bounds(b), [](const Bounds &x, const Bounds &y) {
    return !x.isEmpty() && !y.isEmpty() && x.meets(y);
  });
}

bool TileBoxes::boxHolds(const TileBox &a, const TileBox &b) const {
  return a.buffer == b.buffer && std::ranges::equal(bounds(a), bounds(b), &Bounds::holds);
}

} // namespace tally::deps
