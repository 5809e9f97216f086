//===- TileRanges.cpp - Where the tile of one run lies --------------------===//

#include "TileRanges.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally::check {

TileRanges::TileRanges(const Kernel &kernel)
    : kernel(kernel), shared(kernel), tiles(*kernel.tiles) {
  hasNoalias.resize(kernel.buffers.size());
  for (BufferId id : kernel.buffers.ids()) {
    BufferId group = shared.groupOf(id);
    hasNoalias[group] = hasNoalias[group] || !kernel.buffers[id].noalias.empty();
  }
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

static std::optional<int64_t> valueOf(const KernelCursor &at, const BodyTile &tile, TileExprId id) {
  return tile.valueAt(id, [&](LoopId loop) { return at.index(loop); }, at.values());
}

static std::optional<int64_t> sizeOf(const KernelCursor &at, const BodyTile &tile,
                                     const TileDim &dim) {
  return tile.sizeAt(dim, [&](LoopId loop) { return at.index(loop); }, at.values());
}

bool TileRanges::isTouched(const KernelCursor &at, AccessId id) const {
  const BodyTile &tile = tiles[id];
  auto isEmpty = [&](const TileDim &dim) {
    Index size = sizeOf(at, tile, dim);
    return size && *size < 1;
  };
  return tile.mayHold([&](LoopId loop) { return at.index(loop); }, at.values()) &&
         std::none_of(tile.access.dims.begin(), tile.access.dims.end(), isEmpty);
}

RangeTile TileRanges::tileOf(const KernelCursor &at, AccessId id) const {
  const BodyTile &read = tiles[id];
  RangeTile tile{kernel.accesses[id].buffer, {}};
  size_t numDims = kernel.buffers[tile.buffer].shape.size();
  for (size_t d = 0; d < numDims; ++d) {
    tile.ranges.push_back(read.access.dims.empty() ? TileRange{0, 0, 1, true}
                                                   : rangeOf(at, read, d, tile.buffer));
  }
  return tile;
}

/// What one dimension may come to in any run: `$n mod 2` is 0 or 1.
TileRange TileRanges::rangeOfAll(const BodyTile &tile, const TileDim &dim) const {
  Bounds bounds = boundsOf(kernel, tile, dim);
  bool isKnown = bounds.first > -Bounds::endless && bounds.last < Bounds::endless;
  return isKnown && !bounds.isEmpty() ? TileRange{bounds.first, bounds.last - bounds.first + 1}
                                      : TileRange{0, 0, 1, true};
}

TileRange TileRanges::rangeOf(const KernelCursor &at, const BodyTile &tile, size_t d,
                              BufferId buffer) const {
  const TileDim &dim = tile.access.dims[d];
  Index first = valueOf(at, tile, dim.first);
  Index count = sizeOf(at, tile, dim);
  if (!first || (!count && *first < 0)) {
    return rangeOfAll(tile, dim);
  }
  if (!count) { // it may go on to the end
    int64_t end = static_cast<int64_t>(kernel.buffers[buffer].shape[d]);
    count = *first < end ? (end - 1 - *first) / dim.stride + 1 : 1;
  }
  return {*first, *count, dim.stride, false};
}

/// The first index of a dimension that is not in the buffer, or the last one of the tile; none if
/// all are, or it depends on a run-time value. A size that is not known is at least 1.
TileRanges::Index TileRanges::indexBeyond(const KernelCursor &at, const BodyTile &tile, size_t d,
                                          uint64_t extent) {
  const TileDim &dim = tile.access.dims[d];
  Index first = valueOf(at, tile, dim.first);
  Index size = sizeOf(at, tile, dim);
  if (!first || *first < 0) {
    return first;
  }
  uint64_t room =
      static_cast<uint64_t>(*first) < extent ? extent - 1 - static_cast<uint64_t>(*first) : 0;
  uint64_t steps = static_cast<uint64_t>(size.value_or(1)) - 1;
  uint64_t stride = static_cast<uint64_t>(dim.stride);
  bool isInside = static_cast<uint64_t>(*first) < extent && steps <= room / stride;
  return isInside ? Index() : static_cast<int64_t>(static_cast<uint64_t>(*first) + steps * stride);
}

std::optional<OutsideRun> TileRanges::outside(const KernelCursor &at, AccessId id) const {
  const BodyTile &tile = tiles[id];
  auto isUnknown = [&](const TileGuard &guard) {
    return !valueOf(at, tile, guard.left) || !valueOf(at, tile, guard.right);
  };
  if (std::any_of(tile.access.guards.begin(), tile.access.guards.end(), isUnknown)) {
    return {};
  }
  const std::vector<uint64_t> &shape = kernel.buffers[kernel.accesses[id].buffer].shape;
  for (uint32_t d = 0; d < tile.access.dims.size(); ++d) {
    if (Index index = indexBeyond(at, tile, d, shape[d])) {
      OutsideRun run{at.instr(), id, d, *index, {}, {}};
      for (LoopId loop : kernel.realLoops(tile.home)) {
        run.iteration.push_back({loop, static_cast<uint64_t>(at.index(loop).iteration)});
      }
      return run;
    }
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Memory of several buffers
//===----------------------------------------------------------------------===//

/// Past the buffers, and the cells that stand for dependences.
BufferId TileRanges::firstShared() const {
  return BufferId(static_cast<uint32_t>(kernel.buffers.size() + kernel.deps.size()));
}

std::vector<RangeTile> TileRanges::sharedOf(const RangeTile &tile, uint64_t &left) {
  std::vector<RangeTile> pieces;
  BufferId group = shared.groupOf(tile.buffer);
  bool hasKnown = false;
  for (BufferId other : shared.membersOf(group)) {
    InCommon sharing =
        other == tile.buffer ? InCommon::Nothing : shared.between(tile.buffer, other);
    if (sharing == InCommon::Unknown) {
      pieces.push_back(lineOf(tile, other));
    } else if (sharing == InCommon::Known && hasNoalias[group]) {
      addBytes(tile, memoryOfPair(tile.buffer, other), 0, 0, left, pieces);
    }
    hasKnown |= sharing == InCommon::Known;
  }
  if (hasKnown && !hasNoalias[group]) {
    BufferId memory(firstShared().value + group.value);
    addBytes(tile, memory, 0, 0, left, pieces);
  }
  return pieces;
}

/// Past those of whole groups.
BufferId TileRanges::memoryOfPair(BufferId a, BufferId b) {
  auto [first, second] = std::minmax({a, b});
  return BufferId(firstShared().value + static_cast<uint32_t>(kernel.buffers.size()) +
                  planes({first, second}));
}

/// Some bytes of the partitions that a tile takes; of flat memory, the bytes alone.
std::vector<TileRange> TileRanges::placesOf(const RangeTile &tile, int64_t first,
                                            int64_t count) const {
  const TileRange bytes{first, count};
  bool isFlat = shared.numPartitions(shared.groupOf(tile.buffer)) == 1;
  return isFlat ? std::vector{bytes} : std::vector{partitionsOf(tile), bytes};
}

/// As numbers of the memory, not of the buffer.
TileRange TileRanges::partitionsOf(const RangeTile &tile) const {
  const std::optional<Partitions> &said = kernel.buffers[tile.buffer].partitions;
  if (!said) {
    return {0, 1};
  }
  TileRange range = tile.ranges[said->dim];
  if (range.whole) {
    range = {0, static_cast<int64_t>(kernel.buffers[tile.buffer].shape[said->dim])};
  }
  range.first += static_cast<int64_t>(said->first);
  return range;
}

/// Stretches of dimension d and those inside it that are no partitions; elements from `start` on.
/// What is beyond the buffer is nobody's.
void TileRanges::addBytes(const RangeTile &tile, BufferId memory, size_t d, uint64_t start,
                          uint64_t &left, std::vector<RangeTile> &pieces) const {
  const Buffer &buffer = kernel.buffers[tile.buffer];
  if (goesOverPartitions(buffer, d)) {
    return addBytes(tile, memory, d + 1, start, left, pieces);
  }
  bool isElement = d == tile.ranges.size();
  bool isStretch = true;
  uint64_t inner = 1;
  for (size_t i = d + 1; i < buffer.shape.size(); ++i) {
    if (!goesOverPartitions(buffer, i)) {
      isStretch &= tile.ranges[i].whole;
      inner *= buffer.shape[i];
    }
  }
  int64_t extent = isElement ? 1 : static_cast<int64_t>(buffer.shape[d]);
  auto add = [&](int64_t first, int64_t end) {
    first = std::max<int64_t>(first, 0);
    end = std::min(end, extent);
    for (int64_t i = first; i < end && left != 0; i = isStretch ? end : i + 1) {
      uint64_t element = start + static_cast<uint64_t>(i) * inner;
      if (!isStretch) {
        addBytes(tile, memory, d + 1, element, left, pieces);
        continue;
      }
      --left;
      uint64_t size = *elementBytes(kernel, tile.buffer);
      auto count = static_cast<uint64_t>(end - first) * inner;
      pieces.push_back(
          {memory, placesOf(tile, static_cast<int64_t>(*buffer.address + element * size),
                            static_cast<int64_t>(count * size))});
    }
  };
  if (isElement || tile.ranges[d].whole) {
    return add(0, extent);
  }
  forStretches(tile.ranges[d], add);
}

/// Its row or column in the plane of the two buffers.
RangeTile TileRanges::lineOf(const RangeTile &tile, BufferId other) {
  BufferId plane = memoryOfPair(tile.buffer, other);
  TileRange all{0, 0, 1, true};
  TileRange own{static_cast<int64_t>(lines(tile)), 1, 1, false};
  return tile.buffer < other ? RangeTile{plane, {own, all}} : RangeTile{plane, {all, own}};
}

bool TileRanges::hasPlaces(BufferId memory) const {
  uint32_t number = memory.value - firstShared().value;
  if (number < kernel.buffers.size()) {
    return true;
  }
  auto [first, second] = planes[number - kernel.buffers.size()];
  return shared.between(first, second) == InCommon::Known;
}

std::string TileRanges::sharedName(BufferId memory) const {
  uint32_t number = memory.value - firstShared().value;
  if (number < kernel.buffers.size()) {
    return fmt::format("bytes of '{}'", kernel.text(kernel.buffers[BufferId(number)].name));
  }
  auto [first, second] = planes[number - kernel.buffers.size()];
  return fmt::format("what '{}' and '{}' may share", kernel.text(kernel.buffers[first].name),
                     kernel.text(kernel.buffers[second].name));
}

} // namespace tally::check
