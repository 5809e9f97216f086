//===- TileBoxes.cpp - Where the tiles of a kernel lie --------------------===//

#include "TileBoxes.h"

#include <algorithm>

namespace tally {

//===----------------------------------------------------------------------===//
// Bounds of expressions
//===----------------------------------------------------------------------===//

static Bounds limited(const Bounds &a) {
  auto limit = [](int64_t x) { return std::clamp(x, -Bounds::endless, Bounds::endless); };
  return {limit(a.first), limit(a.last)};
}

/// What has no bound on one side has none after anything is added.
static Bounds sum(const Bounds &a, const Bounds &b) {
  bool startsAnywhere = a.first == -Bounds::endless || b.first == -Bounds::endless;
  bool endsAnywhere = a.last == Bounds::endless || b.last == Bounds::endless;
  return limited({startsAnywhere ? -Bounds::endless : a.first + b.first,
                  endsAnywhere ? Bounds::endless : a.last + b.last});
}

static int64_t product(int64_t a, int64_t b) {
  int64_t result = 0;
  bool overflows = __builtin_mul_overflow(a, b, &result);
  return !overflows ? result : (a < 0) == (b < 0) ? Bounds::endless : -Bounds::endless;
}

static Bounds scaled(const Bounds &a, int64_t factor) {
  auto [first, last] = std::minmax({product(a.first, factor), product(a.last, factor)});
  return limited({first, last});
}

static Bounds remainder(const Bounds &a, int64_t modulus) {
  bool isOnePiece = a.first > -Bounds::endless && a.last < Bounds::endless &&
                    floorDiv(a.first, modulus) == floorDiv(a.last, modulus);
  int64_t base = isOnePiece ? floorDiv(a.first, modulus) * modulus : 0;
  return isOnePiece ? Bounds{a.first - base, a.last - base} : Bounds{0, modulus - 1};
}

/// Iterations of a loop.
static Bounds iterations(const Loop &loop) {
  std::optional<uint64_t> most = loop.trip.most();
  return {0, most ? static_cast<int64_t>(*most) - 1 : Bounds::endless};
}

static Bounds boundsOf(const Kernel &kernel, const BodyTile &tile, TileExprId id) {
  using Kind = TileExpr::Kind;
  const TileExpr &node = tile.access.exprs[id];
  auto operand = [&](TileExprId child) { return boundsOf(kernel, tile, child); };
  switch (node.kind) {
  case Kind::Constant:
    return limited({node.value, node.value});
  case Kind::Loop:
    return iterations(kernel.loops[tile.loopOf(node)]);
  case Kind::Total:
    return {0, Bounds::endless};
  case Kind::Trips: // while it is inside
    return {1, iterations(kernel.loops[tile.loopOf(node)]).last + 1};
  case Kind::Symbol:
    return {};
  case Kind::Add:
    return sum(operand(node.a), operand(node.b));
  case Kind::Sub:
    return sum(operand(node.a), scaled(operand(node.b), -1));
  case Kind::Scale:
    return scaled(operand(node.a), node.value);
  case Kind::Mod:
    return remainder(operand(node.a), node.value);
  case Kind::FloorDiv: {
    Bounds a = operand(node.a);
    return {a.first == -Bounds::endless ? a.first : floorDiv(a.first, node.value),
            a.last == Bounds::endless ? a.last : floorDiv(a.last, node.value)};
  }
  }
  return {};
}

Bounds boundsOf(const Kernel &kernel, const BodyTile &tile, const TileDim &dim) {
  Bounds first = boundsOf(kernel, tile, dim.first);
  if (!dim.size.valid()) {
    return first;
  }
  Bounds size = boundsOf(kernel, tile, dim.size);
  if (size.last < 1) {
    return {0, -1};
  }
  bool isEndless = size.last == Bounds::endless;
  Bounds steps = scaled({0, isEndless ? size.last : size.last - 1}, dim.stride);
  return sum(first, steps);
}

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

} // namespace tally
