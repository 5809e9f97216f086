//===- Tiles.cpp - Which elements a run of an instruction touches ---------===//

#include "Tiles.h"

#include "Joined.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally {

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

Tile::Tile(const Kernel &kernel, LoopId home, AccessId access)
    : id(access), bufferId(kernel.accesses[access].buffer),
      extents(kernel.buffers[bufferId].shape) {
  std::string problem;
  std::optional<ParsedAccess> text =
      parseAccess(kernel.text(kernel.accesses[access].text), problem);
  assert(text && "check() accepted it");
  parsed = std::move(*text);
  for (const std::string &name : parsed.names) {
    LoopId loop = home;
    while (loop != rootLoop && kernel.nameOf(loop) != name) {
      loop = kernel.loops[loop].parent;
    }
    depthOf.push_back(kernel.loops[loop].depth - (loop == rootLoop ? 0 : 1));
  }
}

std::string_view Tile::unknownValue() const {
  for (const TileExpr &node : parsed.exprs) {
    if (node.kind == TileExpr::Kind::Symbol) {
      return parsed.names[node.name];
    }
  }
  return {};
}

static int64_t floorDiv(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && a < 0 ? 1 : 0); // b > 0
}

/// check() has seen to it that every number fits.
int64_t Tile::valueOf(TileExprId expr, std::span<const LoopIndex> indices) const {
  const TileExpr &node = parsed.exprs[expr];
  auto wrapped = [](auto operation, int64_t a, int64_t b) {
    return static_cast<int64_t>(operation(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
  };
  switch (node.kind) {
  case TileExpr::Kind::Constant:
    return node.value;
  case TileExpr::Kind::Loop:
    return indices[depthOf[node.name]].iteration;
  case TileExpr::Kind::Total:
    return indices[depthOf[node.name]].total;
  case TileExpr::Kind::Trips:
    return indices[depthOf[node.name]].trips;
  case TileExpr::Kind::Add:
    return wrapped(std::plus<>(), valueOf(node.a, indices), valueOf(node.b, indices));
  case TileExpr::Kind::Sub:
    return wrapped(std::minus<>(), valueOf(node.a, indices), valueOf(node.b, indices));
  case TileExpr::Kind::Scale:
    return wrapped(std::multiplies<>(), valueOf(node.a, indices), node.value);
  case TileExpr::Kind::Mod: {
    int64_t value = valueOf(node.a, indices);
    return value - floorDiv(value, node.value) * node.value;
  }
  case TileExpr::Kind::FloorDiv:
    return floorDiv(valueOf(node.a, indices), node.value);
  case TileExpr::Kind::Symbol:
    break;
  }
  return 0; // unknownValue() has been asked
}

bool Tile::isTouched(std::span<const LoopIndex> indices) const {
  return std::all_of(parsed.guards.begin(), parsed.guards.end(), [&](const TileGuard &guard) {
    return guard.holds(valueOf(guard.left, indices), valueOf(guard.right, indices));
  });
}

bool Tile::place(std::span<const LoopIndex> indices, TilePlace &place, std::string &problem) const {
  place.isTouched = isTouched(indices);
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
    if (parsed.dims.empty() || parsed.dims[d].size.valid()) {
      place.shape.push_back(range->count);
    }
    addRange(place, *range);
  }
  return true;
}

std::optional<Tile::Range> Tile::rangeOf(size_t d, std::span<const LoopIndex> indices,
                                         bool isTouched, std::string &problem) const {
  uint64_t extent = extents[d];
  if (extent == 0) {
    problem = "the buffer has no elements";
    return std::nullopt;
  }
  if (parsed.dims.empty()) {
    return Range{0, extent, 1};
  }
  const TileDim &dim = parsed.dims[d];
  int64_t from = valueOf(dim.first, indices);
  int64_t size = dim.size.valid() ? valueOf(dim.size, indices) : 1;
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

} // namespace tally
