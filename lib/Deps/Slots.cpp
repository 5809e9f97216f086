//===- Slots.cpp - Tiles that are slots of a ring, or always the same -----===//

#include "Slots.h"

namespace tally {
namespace {

using Kind = TileExpr::Kind;

/// factor * ((loop + offset) mod length) + rest; no loop: `rest` alone.
struct Moving {
  LoopId loop;
  int64_t factor = 1;
  int64_t offset = 0;
  int64_t length = 0;
  int64_t rest = 0;
};

/// Far from any overflow of what is computed with them.
constexpr int64_t large = int64_t(1) << 40;

class Reader {
public:
  Reader(const Kernel &kernel, const BodyTile &tile) : kernel(kernel), tile(tile) {}

  std::optional<Moving> read(TileExprId id) const {
    std::optional<Moving> result = readAny(id);
    bool isSmall = result && std::max({std::abs(result->factor), std::abs(result->offset),
                                       std::abs(result->rest)}) < large;
    return isSmall ? result : std::nullopt;
  }

private:
  std::optional<Moving> readAny(TileExprId id) const {
    const TileExpr &node = tile.access.exprs[id];
    switch (node.kind) {
    case Kind::Constant: {
      Moving constant;
      constant.rest = node.value;
      return constant;
    }
    case Kind::Loop: {
      Moving loop;
      loop.loop = tile.loopOf(node);
      return kernel.loops[loop.loop].isBranch() ? std::nullopt : std::optional(loop);
    }
    case Kind::Add:
    case Kind::Sub:
      return sum(read(node.a), read(node.b), node.kind == Kind::Add ? 1 : -1);
    case Kind::Scale:
      return scaled(read(node.a), node.value);
    case Kind::Mod:
      return remainder(read(node.a), node.value);
    default:
      return std::nullopt;
    }
  }

  /// One of the two is a constant.
  static std::optional<Moving> sum(std::optional<Moving> a, std::optional<Moving> b, int64_t sign) {
    if (!a || !b || (a->loop.valid() && b->loop.valid()) || (b->loop.valid() && sign < 0)) {
      return std::nullopt;
    }
    Moving result = a->loop.valid() ? *a : *b;
    result.rest = a->rest + sign * b->rest;
    return result;
  }

  static std::optional<Moving> scaled(std::optional<Moving> a, int64_t factor) {
    int64_t rest = 0;
    int64_t product = 0;
    if (!a || factor <= 0 || __builtin_mul_overflow(a->rest, factor, &rest) ||
        __builtin_mul_overflow(a->factor, factor, &product)) {
      return std::nullopt;
    }
    a->rest = rest;
    a->factor = product;
    return a;
  }

  /// (factor * loop + rest) mod modulus: a ring if the modulus is a multiple of the factor.
  static std::optional<Moving> remainder(std::optional<Moving> a, int64_t modulus) {
    if (!a || modulus >= large || a->length != 0 || (a->loop.valid() && modulus % a->factor != 0)) {
      return std::nullopt;
    }
    if (!a->loop.valid()) {
      a->rest -= floorDiv(a->rest, modulus) * modulus;
      return a;
    }
    int64_t within = a->rest - floorDiv(a->rest, a->factor) * a->factor;
    a->offset += (a->rest - within) / a->factor;
    a->rest = within;
    a->length = modulus / a->factor;
    return a;
  }

  const Kernel &kernel;
  const BodyTile &tile;
};

bool isAgreed(const Kernel &kernel, LoopId body) {
  for (; body.valid(); body = kernel.loops[body].parent) {
    if (!kernel.loops[body].uniform) {
      return false;
    }
  }
  return true;
}

/// What one dimension touches, without what moves.
std::optional<Bounds> insideOf(const ParsedAccess &access, const TileDim &dim, int64_t first) {
  if (!dim.size.valid()) {
    return Bounds{first, first};
  }
  const TileExpr &size = access.exprs[dim.size];
  if (size.kind != Kind::Constant || dim.stride != 1 || size.value < 1 || size.value >= large) {
    return std::nullopt;
  }
  return Bounds{first, first + size.value - 1};
}

/// Where slots of a ring lie, and in which of those that move along `inside` begins.
bool placeInSlot(SlotTile &tile, const Moving &moving, Bounds &inside) {
  int64_t slots = floorDiv(inside.first, moving.factor);
  int64_t start = slots * moving.factor;
  if (moving.length == 0) {
    tile.offset += slots;
  } else {
    tile.family.base = start;
  }
  inside = {inside.first - start, inside.last - start};
  return inside.last < moving.factor;
}

} // namespace

std::optional<SlotTile> slotOf(const Kernel &kernel, const TileBoxes &tiles, const TileBox &tile) {
  const ParsedAccess &access = tiles.parsed(tile);
  if (access.anywhere || !access.guards.empty() || !isAgreed(kernel, tile.home)) {
    return std::nullopt;
  }
  SlotTile result;
  result.family.buffer = tile.buffer;
  if (access.dims.empty()) {
    std::span<const Bounds> all = tiles.bounds(tile);
    result.inside.assign(all.begin(), all.end());
    return result;
  }
  Reader reader(kernel, tiles.read(tile));
  for (uint32_t d = 0; d < access.dims.size(); ++d) {
    std::optional<Moving> moving = reader.read(access.dims[d].first);
    std::optional<Bounds> inside =
        moving ? insideOf(access, access.dims[d], moving->rest) : std::nullopt;
    if (!inside || (moving->loop.valid() && result.family.loop.valid())) {
      return std::nullopt;
    }
    if (moving->loop.valid()) {
      result.family = {tile.buffer, moving->loop, d, moving->length, moving->factor, 0};
      result.offset = moving->offset;
      if (!placeInSlot(result, *moving, *inside)) {
        return std::nullopt;
      }
    }
    result.inside.push_back(*inside);
  }
  return result;
}

} // namespace tally
