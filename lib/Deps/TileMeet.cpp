//===- TileMeet.cpp - When two tiles meet, as a condition -----------------===//

#include "TileMeet.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace tally::deps {
namespace {

using deps::isOpen;

//===----------------------------------------------------------------------===//
// What is known
//===----------------------------------------------------------------------===//

/// Whether it is not one number in all runs, but is known in each.
bool changes(const BodyTile &tile, TileExprId id) {
  using Kind = TileExpr::Kind;
  return hasLeaf(tile.access, id, [&](const TileExpr &node) {
    return node.kind == Kind::Loop || node.kind == Kind::Total || node.kind == Kind::Trips ||
           (node.kind == Kind::Symbol && !tile.isOpen(node));
  });
}

bool changes(const BodyTile &tile, const TileDim &dim) {
  return changes(tile, dim.first) || changes(tile, dim.size);
}

bool isOpen(const BodyTile &tile, const TileDim &dim) {
  return isOpen(tile, dim.first) || isOpen(tile, dim.size);
}

bool isConstantRange(const ParsedAccess &access, const TileDim &dim) {
  return access.isConstant(dim) && dim.isRange();
}

/// The text of one dimension by itself.
std::string dimText(const ParsedAccess &access, const TileDim &dim) {
  ParsedAccess alone = access;
  alone.dims = {dim};
  alone.guards.clear();
  return toString(alone);
}

/// Whether two dimensions whose numbers are constants have an element in common; none if they have
/// too many to look at.
std::optional<bool> constantsMeet(const ParsedAccess &p, const TileDim &x, const ParsedAccess &c,
                                  const TileDim &y) {
  constexpr int64_t many = 1024;
  auto countOf = [](const ParsedAccess &access, const TileDim &dim) {
    return dim.size.valid() ? access.exprs[dim.size].value : 1;
  };
  int64_t count = countOf(p, x);
  if (count > many) {
    return countOf(c, y) > many ? std::nullopt : constantsMeet(c, y, p, x);
  }
  for (int64_t i = 0, at = p.exprs[x.first].value - c.exprs[y.first].value; i < count;
       ++i, at += x.stride) {
    if (at % y.stride == 0 && 0 <= at / y.stride && at / y.stride < countOf(c, y)) {
      return true;
    }
  }
  return false;
}

/// What one dimension says about whether two tiles of one buffer meet.
enum class DimMeet : uint8_t {
  Always,  ///< nothing: it is the same, or all of it, or constant numbers that meet
  Never,   ///< constant numbers that do not meet
  Unknown, ///< nothing: it begins at a run-time value
  Depends, ///< on iterations
  May,     ///< on iterations, and then a size is a run-time value
};

DimMeet dimMeet(const BodyTile &producer, const BodyTile &consumer, size_t d) {
  const ParsedAccess &p = producer.access, &c = consumer.access;
  const TileDim &x = p.dims[d];
  const TileDim &y = c.dims[d];
  bool changing = changes(producer, x) || changes(consumer, y);
  bool symbolic = isOpen(producer, x) || isOpen(consumer, y);
  if (!symbolic && isConstantRange(p, x) && isConstantRange(c, y)) {
    return DimMeet::Always; // their boxes were compared
  }
  if (!symbolic) {
    bool areConstant = p.isConstant(x) && c.isConstant(y);
    std::optional<bool> meet = areConstant ? constantsMeet(p, x, c, y) : std::nullopt;
    return !meet ? DimMeet::Depends : *meet ? DimMeet::Always : DimMeet::Never;
  }
  if (!changing && dimText(p, x) == dimText(c, y)) {
    return DimMeet::Always;
  }
  bool isPlaced = !isOpen(producer, x.first) && !isOpen(consumer, y.first);
  return isPlaced ? DimMeet::May : DimMeet::Unknown;
}

/// Why it is not known where two tiles of different buffers lie in memory.
Excess placeProblem(const TilePair &pair) {
  if (pair.tiles.sharing(pair.producer, pair.consumer) != InCommon::Known) {
    return Excess::Alias;
  }
  for (const TileBox *tile : {&pair.producer, &pair.consumer}) {
    const BodyTile &read = pair.tiles.read(*tile);
    const ParsedAccess &access = read.access;
    bool isSymbolic = std::any_of(access.dims.begin(), access.dims.end(),
                                  [&](const TileDim &dim) { return isOpen(read, dim); });
    if (access.anywhere || isSymbolic) {
      return access.anywhere ? Excess::Anywhere : Excess::Symbol;
    }
  }
  return Excess::None;
}

/// Whether the two engines may count differently what says where the tiles lie.
bool mayDisagree(const TilePair &pair) {
  return !pair.isOneEngine && (pair.producer.isDivergent || pair.consumer.isDivergent);
}

/// What decides whether two tiles meet, and what is not known of that.
struct Deciding {
  struct Side {
    const TileBox &tile;
    std::vector<TileExprId> sizes; ///< that iterations change: they may be 0, or less
    std::vector<TileGuard> guards;
  };

  Excess vague = Excess::None;
  std::vector<size_t> dims; ///< of one buffer
  bool isNever = false;     ///< whatever the others say
  bool areBytes = false;    ///< of two buffers: all dimensions of both
  std::array<Side, 2> sides;
};

/// The dimensions of one buffer on which it depends whether the tiles meet.
void addDims(const TilePair &pair, Deciding &all) {
  const ParsedAccess &p = pair.tiles.parsed(pair.producer);
  const ParsedAccess &c = pair.tiles.parsed(pair.consumer);
  if (p.anywhere || c.anywhere) {
    all.vague = Excess::Anywhere;
    return;
  }
  for (size_t d = 0; d < std::min(p.dims.size(), c.dims.size()); ++d) {
    DimMeet meet = dimMeet(pair.tiles.read(pair.producer), pair.tiles.read(pair.consumer), d);
    all.isNever |= meet == DimMeet::Never;
    if (meet == DimMeet::Depends || meet == DimMeet::May) {
      all.dims.push_back(d);
    }
    if (meet == DimMeet::Unknown || meet == DimMeet::May) {
      all.vague = Excess::Symbol;
    }
  }
}

/// Sizes and guards of one side, but for those with run-time values.
void addConditions(const BodyTile &tile, bool countsRuns, Deciding::Side &side, Excess &vague) {
  for (const TileDim &dim : tile.access.dims) {
    if (changes(tile, dim.size) && !isOpen(tile, dim.size)) {
      side.sizes.push_back(dim.size);
    }
  }
  const std::span<const TileGuard> all = tile.access.guards;
  for (const TileGuard &guard : countsRuns ? tile.ownGuards() : all) {
    if (!isOpen(tile, guard.left) && !isOpen(tile, guard.right)) {
      side.guards.push_back(guard);
    } else if (vague == Excess::None) {
      vague = Excess::Symbol;
    }
  }
}

Deciding decidingOf(const TilePair &pair) {
  Deciding all{
      Excess::None, {}, false, false, {{{pair.producer, {}, {}}, {pair.consumer, {}, {}}}}};
  if (mayDisagree(pair)) {
    all.vague = Excess::Symbol;
    return all;
  }
  if (pair.producer.buffer == pair.consumer.buffer) {
    addDims(pair, all);
  } else {
    all.vague = placeProblem(pair);
    all.areBytes = all.vague == Excess::None;
  }
  for (Deciding::Side &side : all.sides) {
    addConditions(pair.tiles.read(side.tile), pair.countsRuns, side, all.vague);
  }
  return all;
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

/// That `at` lies before the end of so many numbers from `first` on; if there is an end.
std::string isBefore(const std::string &at, const std::string &first, const std::string &size) {
  return size.empty() ? "1 = 1" : fmt::format("{} < {} + {}", at, first, size);
}

/// That ranges of constant sizes meet: how far the multiples of something at which they begin are
/// apart. So pairs that lie alike ask the same question, wherever they lie.
std::string apartText(const TileText::Sum &ofP, int64_t sizeOfP, const TileText::Sum &ofC,
                      int64_t sizeOfC) {
  int64_t factor = ofP.text.empty()   ? ofC.factor
                   : ofC.text.empty() ? ofP.factor
                                      : std::gcd(ofP.factor, ofC.factor);
  TileText::Sum p = TileText::withFactor(ofP, factor), c = TileText::withFactor(ofC, factor);
  int64_t ahead = p.constant - c.constant;
  int64_t least = floorDiv(ahead - sizeOfC, factor) + 1;
  int64_t most = floorDiv(ahead + sizeOfP - 1, factor);
  return least == most
             ? fmt::format("({} - {} = {})", c.text, p.text, least)
             : fmt::format("({0} <= {2} - {3} and {2} - {3} <= {1})", least, most, c.text, p.text);
}

/// Elements first, first + stride, ... of one dimension, on both sides. Neither is empty.
std::string meetText(const TileDim &x, const TileText &p, const TileDim &y, const TileText &c,
                     size_t d) {
  std::optional<int64_t> sizeOfP = p.constantSize(x);
  std::optional<int64_t> sizeOfC = c.constantSize(y);
  if (x.isRange() && y.isRange() && sizeOfP && sizeOfC) {
    return apartText(p.sum(x.first), *sizeOfP, c.sum(y.first), *sizeOfC);
  }
  std::string px = p.expr(x.first);
  std::string cy = c.expr(y.first);
  if (!x.size.valid() && !y.size.valid()) {
    return fmt::format("({} = {})", px, cy);
  }
  if (x.isRange() && y.isRange()) {
    return fmt::format("({} and {})", isBefore(px, cy, c.size(y)), isBefore(cy, px, p.size(x)));
  }
  std::string k = fmt::format("k{}", d);
  std::string l = fmt::format("l{}", d);
  return fmt::format("(exists {0}, {1} : 0 <= {0} and {2} and 0 <= {1} and {3} and "
                     "{4} + {5} * {0} = {6} + {7} * {1})",
                     k, l, isBefore(k, "0", p.size(x)), isBefore(l, "0", c.size(y)), px, x.stride,
                     cy, y.stride);
}

/// Numbers of one tile in stretches, one stretch for each value of the variables in their ranges:
/// the partitions that it takes, or the bytes in each of them.
struct Stretches {
  TileText::Sum first;
  TileText::Sum length;
  std::vector<std::string> variables;
  std::string ranges; ///< ends with " and "
};

/// Of one side of a pair.
class StretchText {
public:
  StretchText(const TilePair &pair, const TileBox &tile, const TileText &side,
              std::string_view prefix)
      : buffer(pair.kernel.buffers[tile.buffer]), access(pair.tiles.parsed(tile)), side(side),
        prefix(prefix), elementSize(*elementBytes(pair.kernel, tile.buffer)) {}

  Stretches partitions() const {
    if (!buffer.partitions) {
      return {TileText::number(0), TileText::number(1), {}, ""};
    }
    Stretches all{TileText::number(buffer.partitions->first), TileText::number(1), {}, ""};
    bool isStretch = true;
    add(buffer.partitions->dim, 1, isStretch, all);
    return all;
  }

  /// Dimensions are joined from the innermost one on as long as they are touched wholly; the next
  /// one may still be a part of the stretch.
  Stretches bytes() const {
    uint64_t block = elementSize; // bytes of one index
    Stretches all{TileText::number(*buffer.address), TileText::number(block), {}, ""};
    bool isStretch = true;
    for (size_t d = buffer.shape.size(); d-- > 0;) {
      if (!goesOverPartitions(buffer, d)) {
        add(d, block, isStretch, all);
        block *= buffer.shape[d];
      }
    }
    return all;
  }

private:
  void add(size_t d, uint64_t block, bool &isStretch, Stretches &all) const {
    if (access.dims.empty()) {
      all.length = TileText::number(block * buffer.shape[d]);
      return;
    }
    const TileDim &dim = access.dims[d];
    TileText::Sum size = dim.size.valid() ? side.sum(dim.size) : TileText::number(1);
    all.first = TileText::plus(all.first, TileText::times(block, side.sum(dim.first)));
    if (isStretch && dim.isRange()) {
      all.length = TileText::times(block, size);
    } else if (dim.size.valid()) {
      all.variables.push_back(fmt::format("{}{}", prefix, d));
      const std::string &k = all.variables.back();
      all.first =
          TileText::plus(all.first, TileText::times(block, TileText::times(dim.stride, {k, 1, 0})));
      all.ranges += fmt::format("0 <= {} < {} and ", k, TileText::textOf(size));
    }
    bool isWhole = isConstantRange(access, dim) && dim.size.valid() &&
                   access.exprs[dim.first].value == 0 &&
                   access.exprs[dim.size].value == static_cast<int64_t>(buffer.shape[d]);
    isStretch &= isWhole;
  }

  const Buffer &buffer;
  const ParsedAccess &access;
  const TileText &side;
  std::string_view prefix;
  uint64_t elementSize;
};

/// That a number is in a stretch of both, for some values of their variables.
std::string stretchesMeet(const Stretches &x, const Stretches &y) {
  std::vector<std::string> variables = x.variables;
  variables.insert(variables.end(), y.variables.begin(), y.variables.end());
  std::string exists =
      variables.empty() ? "" : fmt::format("exists {} : ", fmt::join(variables, ", "));
  bool areConstant = x.length.text.empty() && y.length.text.empty();
  std::string ofX = TileText::textOf(x.first), ofY = TileText::textOf(y.first);
  std::string meet = areConstant
                         ? apartText(x.first, x.length.constant, y.first, y.length.constant)
                         : fmt::format("{} and {}", isBefore(ofX, ofY, TileText::textOf(y.length)),
                                       isBefore(ofY, ofX, TileText::textOf(x.length)));
  return fmt::format("({}{}{}{})", exists, x.ranges, y.ranges, meet);
}

/// Tiles of two buffers are products of partitions and bytes, so they meet if both do.
std::string placesMeet(const TilePair &pair, const TileText &p, const TileText &c) {
  const StretchText x(pair, pair.producer, p, "k"), y(pair, pair.consumer, c, "l");
  std::string bytes = stretchesMeet(x.bytes(), y.bytes());
  auto isDivided = [&](const TileBox &tile) {
    return pair.kernel.buffers[tile.buffer].partitions.has_value();
  };
  return isDivided(pair.producer) || isDivided(pair.consumer)
             ? fmt::format("{} and {}", stretchesMeet(x.partitions(), y.partitions()), bytes)
             : bytes;
}

} // namespace

Meeting meetingOf(const TilePair &pair, const SideNames &producer, const SideNames &consumer) {
  const Deciding deciding = decidingOf(pair);
  const TileText p(pair.tiles.read(pair.producer), producer);
  const TileText c(pair.tiles.read(pair.consumer), consumer);
  std::vector<std::string> conditions;
  if (deciding.isNever) {
    return {"1 = 0", deciding.vague};
  }
  for (size_t d : deciding.dims) {
    conditions.push_back(meetText(pair.tiles.parsed(pair.producer).dims[d], p,
                                  pair.tiles.parsed(pair.consumer).dims[d], c, d));
  }
  if (deciding.areBytes) {
    conditions.push_back(placesMeet(pair, p, c));
  }
  for (const Deciding::Side &side : deciding.sides) {
    const TileText &text = &side == &deciding.sides[0] ? p : c;
    for (TileExprId size : side.sizes) {
      conditions.push_back(fmt::format("({} >= 1)", text.expr(size)));
    }
    for (const TileGuard &guard : side.guards) {
      conditions.push_back(text.guard(guard));
    }
  }
  return {fmt::format("{}", fmt::join(conditions, " and ")), deciding.vague};
}

void forDecidingExprs(const TilePair &pair,
                      const std::function<void(const TileBox &, TileExprId)> &visit,
                      const std::function<void(const TileBox &, const TileGuard &)> &visitGuard) {
  const Deciding deciding = decidingOf(pair);
  for (const auto &[tile, sizes, guards] : deciding.sides) {
    const std::vector<TileDim> &dims = pair.tiles.parsed(tile).dims;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (deciding.areBytes || std::ranges::count(deciding.dims, d) != 0) {
        visit(tile, dims[d].first);
        visit(tile, dims[d].size);
      }
    }
    for (TileExprId size : sizes) {
      visit(tile, size);
    }
    for (const TileGuard &guard : guards) {
      visitGuard(tile, guard);
    }
  }
}

} // namespace tally::deps
