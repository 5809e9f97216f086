//===- Ranges.cpp - Between which numbers an expression lies --------------===//

#include "tally/Model/Ranges.h"

#include "tally/Support/FloorDiv.h"

#include <algorithm>

namespace tally {

static Bounds limited(const Bounds &a) {
  auto limit = [](int64_t x) { return std::clamp(x, -Bounds::endless, Bounds::endless); };
  return {limit(a.first), limit(a.last)};
}

/// What has no bound on one side has none after anything is added.
Bounds sum(const Bounds &a, const Bounds &b) {
  bool startsAnywhere = a.first == -Bounds::endless || b.first == -Bounds::endless;
  bool endsAnywhere = a.last == Bounds::endless || b.last == Bounds::endless;
  return limited({startsAnywhere ? -Bounds::endless : a.first + b.first,
                  endsAnywhere ? Bounds::endless : a.last + b.last});
}

int64_t product(int64_t a, int64_t b) {
  int64_t result = 0;
  bool overflows = __builtin_mul_overflow(a, b, &result);
  return !overflows ? result : (a < 0) == (b < 0) ? Bounds::endless : -Bounds::endless;
}

Bounds scaled(const Bounds &a, int64_t factor) {
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

/// Of a run-time value; none: nothing is known of it.
static Bounds valuesOf(const Kernel &kernel, RunValueId id) {
  if (!id.valid()) {
    return {};
  }
  const RunValue &value = kernel.values[id];
  return {static_cast<int64_t>(value.min),
          value.max ? static_cast<int64_t>(*value.max) : Bounds::endless};
}

Bounds boundsOf(const Kernel &kernel, const BodyTile &tile, TileExprId id) {
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
    return valuesOf(kernel, tile.valueOf(node));
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

} // namespace tally
