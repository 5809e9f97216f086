//===- Slots.cpp - Tiles that are slots of a ring, or always the same -----===//

#include "Slots.h"

#include "TileText.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace tally::deps {
namespace {

using Kind = TileExpr::Kind;

/// factor * ((step * (loop + offset)) mod length) + rest; no loop: `rest` alone.
struct Moving {
  LoopId loop;
  int64_t factor = 1;
  int64_t step = 1; ///< has no divisor in common with the length
  int64_t offset = 0;
  int64_t length = 0;
  int64_t rest = 0;
};

/// The number below `length` whose product with `step` is 1 in a ring of that length.
int64_t inverse(int64_t step, int64_t length) {
  int64_t r = length, next = step, result = 0, nextResult = 1;
  while (next != 0) {
    int64_t quotient = r / next;
    r = std::exchange(next, r - quotient * next);
    result = std::exchange(nextResult, result - quotient * nextResult);
  }
  return result < 0 ? result + length : result;
}

/// Far from any overflow of what is computed with them.
constexpr int64_t large = int64_t(1) << 40;
constexpr int64_t largeRing = int64_t(1) << 31;

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

  /// (factor * loop + rest) mod modulus: a ring, whose slots are as large as both numbers allow.
  static std::optional<Moving> remainder(std::optional<Moving> a, int64_t modulus) {
    if (!a || modulus >= large || a->length != 0) {
      return std::nullopt;
    }
    Moving ring;
    int64_t size = a->loop.valid() ? std::gcd(a->factor, modulus) : modulus;
    int64_t slot = floorDiv(a->rest, size);
    ring.rest = a->rest - slot * size;
    if (size == modulus) {
      return ring; // it does not move
    }
    ring.loop = a->loop;
    ring.factor = size;
    ring.length = modulus / size;
    ring.step = a->factor / size % ring.length;
    if (ring.length >= largeRing) {
      return std::nullopt;
    }
    slot -= floorDiv(slot, ring.length) * ring.length;
    ring.offset = slot * inverse(ring.step, ring.length) % ring.length;
    return ring;
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

/// Of more, each is looked at by itself.
constexpr int64_t mostPieces = 64;

/// A part of one dimension, in slot iteration + offset if it moves.
struct Part {
  int64_t offset = 0;
  Bounds inside;
};

using Parts = std::vector<Part>;

/// What one dimension touches, without what moves; none if it is not known, or too much.
Parts partsOf(const ParsedAccess &access, const TileDim &dim, int64_t first) {
  if (!dim.size.valid()) {
    return {{0, {first, first}}};
  }
  const TileExpr &size = access.exprs[dim.size];
  if (size.kind != Kind::Constant || size.value < 1 || size.value >= large) {
    return {};
  }
  if (dim.stride == 1) {
    return {{0, {first, first + size.value - 1}}};
  }
  Parts parts;
  bool isFew = size.value <= mostPieces && std::abs(dim.stride) < large / mostPieces;
  for (int64_t i = 0; i < size.value && isFew; ++i) {
    int64_t at = first + i * dim.stride;
    parts.push_back({0, {at, at}});
  }
  return parts;
}

/// Parts of slots that never come again.
Parts cutIntoSlots(const Parts &whole, const Moving &moving) {
  Parts parts;
  for (const Part &part : whole) {
    int64_t first = floorDiv(part.inside.first, moving.factor);
    int64_t last = floorDiv(part.inside.last, moving.factor);
    if (last - first >= mostPieces) {
      return {};
    }
    for (int64_t slot = first; slot <= last; ++slot) {
      int64_t start = slot * moving.factor;
      parts.push_back({moving.offset + slot,
                       {std::max(part.inside.first - start, int64_t(0)),
                        std::min(part.inside.last - start, moving.factor - 1)}});
    }
  }
  return parts;
}

/// Parts of one slot of a ring, whose slots begin at `base`; none if they are of several.
Parts putIntoSlot(Parts parts, const Moving &moving, int64_t &base) {
  int64_t least = parts.front().inside.first;
  for (const Part &part : parts) {
    least = std::min(least, part.inside.first);
  }
  base = floorDiv(least, moving.factor) * moving.factor;
  for (Part &part : parts) {
    part = {moving.offset, {part.inside.first - base, part.inside.last - base}};
    if (part.inside.last >= moving.factor) {
      return {};
    }
  }
  return parts;
}

/// Each piece with each part of one more dimension; none if they are too many.
std::vector<SlotPiece> withDim(const std::vector<SlotPiece> &pieces, const Parts &parts) {
  std::vector<SlotPiece> result;
  if (pieces.size() * parts.size() > static_cast<size_t>(mostPieces)) {
    return result;
  }
  for (const SlotPiece &piece : pieces) {
    for (const Part &part : parts) {
      SlotPiece &both = result.emplace_back(piece);
      both.offset += part.offset;
      both.inside.push_back(part.inside);
    }
  }
  return result;
}

} // namespace

std::optional<SlotTile> rangeOf(const Kernel &kernel, const TileBoxes &tiles, const TileBox &tile) {
  if (!tile.isSolid || tile.hull.isEmpty() || !isAgreed(kernel, tile.home)) {
    return std::nullopt;
  }
  SlotTile result;
  result.family.buffer = tiles.groupOf(tile.buffer);
  result.pieces = {{0, {tile.hull}}};
  return result;
}

std::optional<SlotTile> slotOf(const Kernel &kernel, const LoopsAlike &alike,
                               const TileBoxes &tiles, const TileBox &tile) {
  const ParsedAccess &access = tiles.parsed(tile);
  bool isGuarded = !tiles.read(tile).ownGuards().empty(); // what branches say holds in each run
  if (access.anywhere || isGuarded || !isAgreed(kernel, tile.home)) {
    return std::nullopt;
  }
  SlotTile result;
  result.family.buffer = tile.buffer;
  result.pieces.emplace_back();
  if (access.dims.empty()) {
    std::span<const Bounds> all = tiles.bounds(tile);
    result.pieces.front().inside.assign(all.begin(), all.end());
    return result;
  }
  Reader reader(kernel, tiles.read(tile));
  for (uint32_t d = 0; d < access.dims.size() && !result.pieces.empty(); ++d) {
    std::optional<Moving> moving = reader.read(access.dims[d].first);
    if (!moving || (moving->loop.valid() && result.family.loop.valid())) {
      return std::nullopt;
    }
    Parts parts = partsOf(access, access.dims[d], moving->rest);
    if (moving->loop.valid() && !parts.empty()) {
      result.family = {tile.buffer, alike[moving->loop], d, moving->length, moving->factor, 0};
      result.family.step = moving->step;
      parts = moving->length == 0 ? cutIntoSlots(parts, *moving)
                                  : putIntoSlot(std::move(parts), *moving, result.family.base);
    }
    result.pieces = withDim(result.pieces, parts);
  }
  return result.pieces.empty() ? std::nullopt : std::optional(std::move(result));
}

/// Whether the text of a tile names a loop or branch; what branches around it say does not count.
static bool names(const BodyTile &tile, LoopId body) {
  auto isNamed = [&](TileExprId id) {
    return hasLeaf(tile.access, id, [&](const TileExpr &node) {
      return (node.kind == TileExpr::Kind::Loop || node.kind == TileExpr::Kind::Total ||
              node.kind == TileExpr::Kind::Trips) &&
             tile.loopOf(node) == body;
    });
  };
  return std::ranges::any_of(
             tile.access.dims,
             [&](const TileDim &dim) { return isNamed(dim.first) || isNamed(dim.size); }) ||
         std::ranges::any_of(tile.ownGuards(), [&](const TileGuard &guard) {
           return isNamed(guard.left) || isNamed(guard.right);
         });
}

/// The innermost loop or branch that the text of a tile names.
static LoopId innermostNamed(const Kernel &kernel, const BodyTile &tile) {
  for (LoopId body = tile.home; body != rootLoop; body = kernel.loops[body].parent) {
    bool mayBe = std::ranges::find(tile.loops, body) != tile.loops.end();
    if (mayBe && names(tile, body)) {
      return body;
    }
  }
  return {};
}

std::string anonymousText(const BodyTile &tile) {
  ParsedAccess access = tile.access;
  size_t numOpen = 0;
  for (const TileExpr &node : access.exprs) {
    if (tile.isOpen(node) && !access.names[node.name].starts_with('?')) {
      access.names[node.name] = fmt::format("?{}", ++numOpen);
    }
  }
  return numOpen == 0 ? "" : toString(access);
}

std::optional<SlotFamily> sameTextAs(const Kernel &kernel, const TileBoxes &tiles,
                                     const TileBox &tile) {
  if (tile.isDivergent || tile.hull.isEmpty() || !isAgreed(kernel, tile.home)) {
    return std::nullopt;
  }
  SlotFamily family;
  family.buffer = tile.buffer;
  family.text = tiles.read(tile).text;
  family.fixedIn = innermostNamed(kernel, tiles.read(tile));
  return family;
}

} // namespace tally::deps
