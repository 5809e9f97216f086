//===- Tiles.cpp - Which elements a run of an instruction touches ---------===//

#include "Tiles.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally::data {

std::string joined(std::span<const uint64_t> numbers) {
  std::string text;
  for (uint64_t number : numbers) {
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  }
  return text;
}

std::string shapeText(const Shape &shape) {
  return fmt::format("[{}]", joined(shape));
}

uint64_t numElements(const Shape &shape) {
  uint64_t count = 1;
  for (uint64_t extent : shape) {
    count *= extent;
  }
  return count;
}

bool TilePlace::contains(size_t element) const {
  bool found = false;
  forRuns([&](const ElementRun &run, size_t) {
    size_t distance = element - run.first;
    found |=
        element >= run.first && distance % run.stride == 0 && distance / run.stride < run.count;
  });
  return found;
}

Tile::Tile(const Kernel &kernel, AccessId access, std::span<const int64_t> known)
    : kernel(&kernel), known(known), read(&(*kernel.tiles)[access]), id(access),
      bufferId(kernel.accesses[access].buffer), extents(kernel.buffers[bufferId].shape) {}

std::string_view Tile::unknownValue() const {
  for (const TileExpr &node : read->access.exprs) {
    if (read->isOpen(node)) {
      return read->access.names[node.name];
    }
  }
  return {};
}

/// The loops around are numbered from the outermost one on, without the root.
static auto indexIn(const Kernel &kernel, std::span<const LoopIndex> indices) {
  return [&kernel, indices](LoopId loop) { return indices[kernel.loops[loop].depth - 1]; };
}

bool Tile::place(std::span<const LoopIndex> indices, TilePlace &place, std::string &problem) const {
  place.isTouched = read->mayHold(indexIn(*kernel, indices), known);
  place.first = 0;
  place.dims.clear();
  place.shape.clear();
  for (size_t d = 0; d < extents.size(); ++d) {
    std::optional<Range> range = rangeOf(d, indices, place.isTouched, problem);
    if (!range) {
      return false;
    }
    // What is already there counts in elements of the dimensions so far.
    for (auto &[outerCount, outerStride] : place.dims) {
      outerStride *= extents[d];
    }
    place.first = place.first * extents[d] + range->first;
    if (read->access.dims.empty() || read->access.dims[d].size.valid()) {
      place.shape.push_back(range->count);
    }
    addRange(place, *range);
  }
  return true;
}

std::optional<Tile::Range> Tile::rangeOf(size_t d, std::span<const LoopIndex> indices,
                                         bool isTouched, std::string &problem) const {
  uint64_t extent = extents[d];
  if (read->access.dims.empty()) {
    return Range{0, extent, 1};
  }
  const TileDim &dim = read->access.dims[d];
  // Without a run-time value, for unknownValue() has been asked, all are known.
  int64_t from = read->valueAt(dim.first, indexIn(*kernel, indices), known).value_or(0);
  int64_t size = read->sizeAt(dim, indexIn(*kernel, indices), known).value_or(0);
  Range range{static_cast<uint64_t>(from), static_cast<uint64_t>(size),
              static_cast<uint64_t>(dim.stride)};
  bool fits = size >= 1 && range.count <= extent;
  bool isInside = from >= 0 && range.first < extent &&
                  (extent - 1 - range.first) / range.stride >= range.count - 1;
  if (!fits || (isTouched && !isInside)) {
    problem = fmt::format("dimension {} of {} is {}:{}:{}, but the buffer has {} there", d + 1,
                          extents.size(), from, size, dim.stride, extent);
    return std::nullopt;
  }
  return range;
}

/// As the innermost dimension, or a part of what is the innermost one so far.
void Tile::addRange(TilePlace &place, const Range &range) {
  if (range.count == 1) {
    return;
  }
  bool joins = !place.dims.empty() && place.dims.back().second == range.count * range.stride;
  if (joins) {
    place.dims.back() = {place.dims.back().first * range.count, range.stride};
  } else {
    place.dims.emplace_back(range.count, range.stride);
  }
}

} // namespace tally::data
