//===- TileBoxes.cpp - Where the tiles of a kernel lie --------------------===//

#include "TileBoxes.h"

#include <algorithm>
#include <numeric>

namespace tally::deps {

//===----------------------------------------------------------------------===//
// Lattice
//===----------------------------------------------------------------------===//

static int64_t modulo(int64_t number, int64_t modulus) {
  return number - floorDiv(number, modulus) * modulus;
}

bool Lattice::meets(const Lattice &other) const {
  int64_t common = std::gcd(step, other.step);
  if (common == 0 || width >= common || other.width >= common) {
    return true; // two constants, which the boxes compare; or each residue is there
  }
  int64_t apart = modulo(other.residue - residue, common);
  return apart < width || common - apart < other.width;
}

/// Which numbers an expression can give.
static Lattice latticeOf(const ParsedAccess &access, TileExprId id) {
  using Kind = TileExpr::Kind;
  constexpr int64_t large = int64_t(1) << 31; // beyond, nothing is known: products must fit
  const TileExpr &node = access.exprs[id];
  Lattice any{1, 0, 1};
  if (node.kind == Kind::Constant) {
    return {0, node.value, 1};
  }
  if (!node.a.valid()) {
    return any;
  }
  Lattice a = latticeOf(access, node.a);
  Lattice b = node.b.valid() ? latticeOf(access, node.b) : Lattice{0, 0, 1};
  for (int64_t number : {a.step, a.residue, b.step, b.residue, node.value}) {
    if (number > large || number < -large) {
      return any;
    }
  }
  bool divides = node.kind == Kind::Mod || node.kind == Kind::FloorDiv;
  if (divides && node.value <= 0) {
    return any; // refused elsewhere
  }
  switch (node.kind) {
  case Kind::Add:
    return {std::gcd(a.step, b.step), a.residue + b.residue, 1};
  case Kind::Sub:
    return {std::gcd(a.step, b.step), a.residue - b.residue, 1};
  case Kind::Scale:
    return {std::abs(a.step * node.value), a.residue * node.value, 1};
  case Kind::Mod:
    return a.step == 0 ? Lattice{0, modulo(a.residue, node.value), 1}
                       : Lattice{std::gcd(a.step, node.value), a.residue, 1};
  case Kind::FloorDiv:
    return a.step % node.value == 0
               ? Lattice{a.step / node.value, floorDiv(a.residue, node.value), 1}
               : any;
  default:
    return any;
  }
}

static Lattice latticeOf(const ParsedAccess &access, const TileDim &dim) {
  Lattice lattice = latticeOf(access, dim.first);
  if (dim.size.valid()) {
    Lattice size = latticeOf(access, dim.size);
    bool isShort = size.step == 0 && size.residue >= 0 && size.residue < (int64_t(1) << 31) &&
                   dim.stride < (int64_t(1) << 31);
    lattice.width = isShort ? std::max<int64_t>((size.residue - 1) * dim.stride + 1, 0) : INT64_MAX;
  }
  return lattice;
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

namespace {

/// All places of a tile in some dimensions of its buffer, the last one fastest.
struct Hull {
  Bounds places{0, 0};
  int64_t count = 1; ///< of the places that the dimensions give one by one
  int64_t total = 1; ///< of the whole buffer

  void add(const Bounds &bounds, int64_t extent) {
    count = product(count, bounds.last - bounds.first + 1);
    total = std::min(product(total, extent), Bounds::endless);
    places =
        bounds.isEmpty() || places.isEmpty() ? Bounds{0, -1} : sum(scaled(places, extent), bounds);
  }

  bool isSolid() const { return places.last - places.first + 1 == count; }

  /// What is beyond the end meets what lies anywhere in the buffer.
  void extendToBuffer() {
    places = {std::min(places.first, total - 1), std::max<int64_t>(places.last, 0)};
  }
};

} // namespace

TileBox TileBoxes::boxOf(TileId id, BufferId buffer) {
  const Buffer &of = kernel.buffers[buffer];
  const BodyTile &read = table[id];
  const ParsedAccess &access = read.access;
  TileBox tile{id, buffer, read.home, static_cast<uint32_t>(boxes.size()), {0, 0}};
  tile.isFixed = !access.anywhere && read.ownGuards().empty();
  tile.isDivergent = countsDivergent(read);
  Hull inside;     // of each partition, if memory is shared
  Hull partitions; // of the buffer's own
  for (size_t d = 0; d < of.shape.size(); ++d) {
    int64_t extent = static_cast<int64_t>(std::min<uint64_t>(of.shape[d], Bounds::endless));
    Bounds bounds{0, extent - 1};
    if (!access.dims.empty()) {
      const TileDim &dim = access.dims[d];
      bounds = boundsOf(kernel, read, dim);
      bool isExact = bounds.first > -Bounds::endless && bounds.last < Bounds::endless;
      tile.isFixed &= access.isConstant(dim) && dim.isRange() && isExact;
    }
    boxes.push_back(access.dims.empty() ? Bounds{} : bounds); // all: also what lies beyond the end
    grids.push_back(access.dims.empty() ? Lattice{} : latticeOf(access, access.dims[d]));
    bool isPartition = goesOverPartitions(of, d) && !shared.isAlone(buffer);
    (isPartition ? partitions : inside).add(bounds, extent);
  }
  if (inside.places.isEmpty() || partitions.places.isEmpty()) {
    tile.hull = {0, -1};
    return tile;
  }
  bool isSolid = inside.isSolid() && takesAllPartitions(buffer, partitions.places);
  inside.extendToBuffer();
  partitions.extendToBuffer();
  tile.hull = inGroup(buffer, inside.places, partitions.places);
  tile.isSolid = tile.isFixed && isPlaced(buffer) && isSolid && tile.hull.last < Bounds::endless;
  return tile;
}

bool TileBoxes::isPlaced(BufferId buffer) const {
  return shared.isAlone(buffer) || shared.isKnown(shared.groupOf(buffer));
}

/// Whether these are all partitions of the memory that its group shares.
bool TileBoxes::takesAllPartitions(BufferId buffer, const Bounds &partitions) const {
  auto number = static_cast<int64_t>(shared.numPartitions(shared.groupOf(buffer)));
  return shared.isAlone(buffer) || partitions.last - partitions.first + 1 == number;
}

/// Places of shared memory are counted byte by byte, and for each byte partition by partition: most
/// tiles take all partitions, and so what lies between their first place and their last.
Bounds TileBoxes::inGroup(BufferId buffer, const Bounds &elements, const Bounds &partitions) const {
  if (!isPlaced(buffer)) {
    return {0, 0};
  }
  if (shared.isAlone(buffer)) {
    return elements;
  }
  const Region &region = shared.regionOf(buffer);
  int64_t size = static_cast<int64_t>(*elementBytes(kernel, buffer));
  auto number = static_cast<int64_t>(shared.numPartitions(shared.groupOf(buffer)));
  auto firstByte = static_cast<int64_t>(std::min<uint64_t>(region.firstByte, Bounds::endless));
  auto firstPartition = static_cast<int64_t>(region.firstPartition);
  Bounds begin = scaled({elements.first, elements.first}, size);
  Bounds end = scaled({elements.last + 1, elements.last + 1}, size);
  Bounds bytes = sum({firstByte, firstByte}, {begin.first, end.last - 1});
  return sum(scaled(bytes, number), sum({firstPartition, firstPartition}, partitions));
}

bool TileBoxes::boxesMeet(const TileBox &a, const TileBox &b) const {
  if (a.buffer != b.buffer) {
    return sharing(a, b) != InCommon::Nothing && !a.hull.isEmpty() && !b.hull.isEmpty() &&
           a.hull.meets(b.hull);
  }
  return std::ranges::equal(bounds(a), bounds(b),
                            [](const Bounds &x, const Bounds &y) {
                              return !x.isEmpty() && !y.isEmpty() && x.meets(y);
                            }) &&
         std::ranges::equal(lattices(a), lattices(b), &Lattice::meets);
}

bool TileBoxes::boxHolds(const TileBox &a, const TileBox &b) const {
  return a.buffer == b.buffer && std::ranges::equal(bounds(a), bounds(b), &Bounds::holds);
}

} // namespace tally::deps
