//===- TileMeet.cpp - When two tiles meet, as a condition -----------------===//

#include "TileMeet.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally {
namespace {

bool isSymbol(const TileExpr &node) {
  return node.kind == TileExpr::Kind::Symbol;
}

//===----------------------------------------------------------------------===//
// What is known
//===----------------------------------------------------------------------===//

bool changes(const TileExpr &node) {
  using Kind = TileExpr::Kind;
  return node.kind == Kind::Loop || node.kind == Kind::Total || node.kind == Kind::Trips;
}

bool hasLeaf(const ParsedAccess &access, const TileDim &dim, bool (*asked)(const TileExpr &)) {
  return tally::hasLeaf(access, dim.first, asked) || tally::hasLeaf(access, dim.size, asked);
}

bool hasLeaf(const ParsedAccess &access, const TileGuard &guard, bool (*asked)(const TileExpr &)) {
  return tally::hasLeaf(access, guard.left, asked) || tally::hasLeaf(access, guard.right, asked);
}

bool isConstant(const ParsedAccess &access, TileExprId id) {
  return !id.valid() || access.exprs[id].kind == TileExpr::Kind::Constant;
}

bool isRange(const TileDim &dim) {
  return !dim.size.valid() || dim.stride == 1;
}

bool isConstantRange(const ParsedAccess &access, const TileDim &dim) {
  return isConstant(access, dim.first) && isConstant(access, dim.size) && isRange(dim);
}

/// The text of one dimension by itself.
std::string dimText(const ParsedAccess &access, const TileDim &dim) {
  ParsedAccess alone = access;
  alone.dims = {dim};
  alone.guards.clear();
  return toString(alone);
}

/// What one dimension says about whether two tiles of one buffer meet.
enum class DimMeet : uint8_t {
  Always,  ///< nothing: it is the same, or all of it, or their constant ranges were compared
  Unknown, ///< nothing: it begins at a run-time value
  Depends, ///< on iterations or strides
  May,     ///< on iterations or strides, and then a size is a run-time value
};

DimMeet dimMeet(const ParsedAccess &p, const ParsedAccess &c, size_t d) {
  const TileDim &x = p.dims[d];
  const TileDim &y = c.dims[d];
  bool changing = hasLeaf(p, x, changes) || hasLeaf(c, y, changes);
  bool symbolic = hasLeaf(p, x, isSymbol) || hasLeaf(c, y, isSymbol);
  if (!symbolic) {
    return isConstantRange(p, x) && isConstantRange(c, y) ? DimMeet::Always : DimMeet::Depends;
  }
  if (!changing && dimText(p, x) == dimText(c, y)) {
    return DimMeet::Always;
  }
  bool isPlaced = !tally::hasLeaf(p, x.first, isSymbol) && !tally::hasLeaf(c, y.first, isSymbol);
  return isPlaced ? DimMeet::May : DimMeet::Unknown;
}

/// Why it is not known where two tiles of different buffers lie in memory.
Excess placeProblem(const TilePair &pair) {
  if (pair.tiles.sharing(pair.producer, pair.consumer) != InCommon::Known) {
    return Excess::Alias;
  }
  for (const TileBox *tile : {&pair.producer, &pair.consumer}) {
    const ParsedAccess &access = pair.tiles.parsed(*tile);
    bool isSymbolic = std::any_of(access.dims.begin(), access.dims.end(), [&](const TileDim &dim) {
      return hasLeaf(access, dim, isSymbol);
    });
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

bool isOneBuffer(const TilePair &pair) {
  return pair.producer.buffer == pair.consumer.buffer;
}

/// Calls `visit` for each dimension of one buffer on which it depends whether the tiles meet; says
/// what is not known.
template <typename Visit> Excess forDependingDims(const TilePair &pair, Visit visit) {
  const ParsedAccess &p = pair.tiles.parsed(pair.producer);
  const ParsedAccess &c = pair.tiles.parsed(pair.consumer);
  if (p.anywhere || c.anywhere) {
    return Excess::Anywhere;
  }
  Excess vague = Excess::None;
  for (size_t d = 0; d < std::min(p.dims.size(), c.dims.size()); ++d) {
    DimMeet meet = dimMeet(p, c, d);
    if (meet == DimMeet::Depends || meet == DimMeet::May) {
      visit(d);
    }
    if (meet == DimMeet::Unknown || meet == DimMeet::May) {
      vague = Excess::Symbol;
    }
  }
  return vague;
}

/// Calls `visit` for each size of one side that iterations change: it may be 0, or less.
template <typename Visit>
void forChangingSizes(const TilePair &pair, const TileBox &tile, Visit visit) {
  const ParsedAccess &access = pair.tiles.parsed(tile);
  for (const TileDim &dim : access.dims) {
    if (tally::hasLeaf(access, dim.size, changes) && !tally::hasLeaf(access, dim.size, isSymbol)) {
      visit(dim.size);
    }
  }
}

/// Calls `visit` for each guard of one side without run-time values; says if there are others.
template <typename Visit> Excess forGuards(const TilePair &pair, const TileBox &tile, Visit visit) {
  const ParsedAccess &access = pair.tiles.parsed(tile);
  Excess vague = Excess::None;
  for (const TileGuard &guard : access.guards) {
    if (hasLeaf(access, guard, isSymbol)) {
      vague = Excess::Symbol;
    } else {
      visit(guard);
    }
  }
  return vague;
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

TileText textOf(const TilePair &pair, const TileBox &tile, const SideNames &names) {
  return {pair.tiles.read(tile), names};
}

/// That `at` lies before the end of so many numbers from `first` on; if there is an end.
std::string isBefore(const std::string &at, const std::string &first, const std::string &size) {
  return size.empty() ? "1 = 1" : fmt::format("{} < {} + {}", at, first, size);
}

/// Elements first, first + stride, ... of one dimension, on both sides. Neither is empty.
std::string meetText(const TileDim &x, const TileText &p, const TileDim &y, const TileText &c,
                     size_t d) {
  std::string px = p.expr(x.first);
  std::string cy = c.expr(y.first);
  if (!x.size.valid() && !y.size.valid()) {
    return fmt::format("({} = {})", px, cy);
  }
  if (isRange(x) && isRange(y)) {
    return fmt::format("({} and {})", isBefore(px, cy, c.size(y)), isBefore(cy, px, p.size(x)));
  }
  std::string k = fmt::format("k{}", d);
  std::string l = fmt::format("l{}", d);
  return fmt::format("(exists {0}, {1} : 0 <= {0} and {2} and 0 <= {1} and {3} and "
                     "{4} + {5} * {0} = {6} + {7} * {1})",
                     k, l, isBefore(k, "0", p.size(x)), isBefore(l, "0", c.size(y)), px, x.stride,
                     cy, y.stride);
}

/// The stretches of bytes of one tile: one for each value of the variables in their ranges.
struct Stretches {
  std::string first;
  std::string length;
  std::vector<std::string> variables;
  std::string ranges; ///< ends with " and "
};

/// Dimensions are joined from the innermost one on as long as they are touched wholly; the next one
/// may still be a part of the stretch.
Stretches stretchesOf(const TilePair &pair, const TileBox &tile, const TileText &side,
                      std::string_view prefix) {
  const Buffer &buffer = pair.kernel.buffers[tile.buffer];
  const ParsedAccess &access = pair.tiles.parsed(tile);
  Stretches all;
  all.first = fmt::format("{}", *buffer.address);
  uint64_t block = *elementBytes(pair.kernel, tile.buffer); // bytes of one index
  bool isStretch = true;
  all.length = fmt::format("{}", block);
  for (size_t d = buffer.shape.size(); d-- > 0; block *= buffer.shape[d]) {
    if (access.dims.empty()) {
      all.length = fmt::format("{}", block * buffer.shape[d]);
      continue;
    }
    const TileDim &dim = access.dims[d];
    all.first += fmt::format(" + {} * ({})", block, side.expr(dim.first));
    if (isStretch && isRange(dim)) {
      all.length = fmt::format("{} * ({})", block, side.size(dim));
    } else if (dim.size.valid()) {
      all.variables.push_back(fmt::format("{}{}", prefix, d));
      const std::string &k = all.variables.back();
      all.first += fmt::format(" + {} * {} * {}", block, dim.stride, k); // may pass 64 bits
      all.ranges += fmt::format("0 <= {} < {} and ", k, side.size(dim));
    }
    bool isWhole = isConstantRange(access, dim) && dim.size.valid() &&
                   access.exprs[dim.first].value == 0 &&
                   access.exprs[dim.size].value == static_cast<int64_t>(buffer.shape[d]);
    isStretch &= isWhole;
  }
  return all;
}

std::string bytesMeet(const TilePair &pair, const TileText &p, const TileText &c) {
  Stretches x = stretchesOf(pair, pair.producer, p, "k");
  Stretches y = stretchesOf(pair, pair.consumer, c, "l");
  std::vector<std::string> variables = x.variables;
  variables.insert(variables.end(), y.variables.begin(), y.variables.end());
  std::string exists =
      variables.empty() ? "" : fmt::format("exists {} : ", fmt::join(variables, ", "));
  return fmt::format("({}{}{}{} < {} + {} and {} < {} + {})", exists, x.ranges, y.ranges, x.first,
                     y.first, y.length, y.first, x.first, x.length);
}

} // namespace

Meeting meetingOf(const TilePair &pair, const SideNames &producer, const SideNames &consumer) {
  const TileText p = textOf(pair, pair.producer, producer);
  const TileText c = textOf(pair, pair.consumer, consumer);
  if (mayDisagree(pair)) {
    return {"", Excess::Symbol};
  }
  Meeting meeting;
  auto add = [&](const std::string &condition) {
    meeting.condition += meeting.condition.empty() ? "" : " and ";
    meeting.condition += condition;
  };
  if (isOneBuffer(pair)) {
    const ParsedAccess &x = pair.tiles.parsed(pair.producer);
    const ParsedAccess &y = pair.tiles.parsed(pair.consumer);
    meeting.vague =
        forDependingDims(pair, [&](size_t d) { add(meetText(x.dims[d], p, y.dims[d], c, d)); });
  } else {
    meeting.vague = placeProblem(pair);
    if (meeting.vague == Excess::None) {
      add(bytesMeet(pair, p, c));
    }
  }
  for (auto [tile, side] : {std::pair(&pair.producer, &p), std::pair(&pair.consumer, &c)}) {
    forChangingSizes(pair, *tile,
                     [&](TileExprId size) { add(fmt::format("({} >= 1)", side->expr(size))); });
    Excess vague = forGuards(pair, *tile, [&](const TileGuard &guard) { add(side->guard(guard)); });
    meeting.vague = meeting.vague == Excess::None ? vague : meeting.vague;
  }
  return meeting;
}

void forDecidingExprs(const TilePair &pair,
                      const std::function<void(const TileBox &, TileExprId)> &visit) {
  if (mayDisagree(pair)) {
    return;
  }
  auto visitDim = [&](const TileBox &tile, const TileDim &dim) {
    visit(tile, dim.first);
    visit(tile, dim.size);
  };
  if (isOneBuffer(pair)) {
    forDependingDims(pair, [&](size_t d) {
      for (const TileBox *tile : {&pair.producer, &pair.consumer}) {
        visitDim(*tile, pair.tiles.parsed(*tile).dims[d]);
      }
    });
  }
  bool hasBytes = !isOneBuffer(pair) && placeProblem(pair) == Excess::None;
  for (const TileBox *tile : {&pair.producer, &pair.consumer}) {
    for (const TileDim &dim : pair.tiles.parsed(*tile).dims) {
      if (hasBytes) {
        visitDim(*tile, dim);
      }
    }
    forChangingSizes(pair, *tile, [&](TileExprId size) { visit(*tile, size); });
    forGuards(pair, *tile, [&](const TileGuard &guard) {
      visit(*tile, guard.left);
      visit(*tile, guard.right);
    });
  }
}

} // namespace tally
