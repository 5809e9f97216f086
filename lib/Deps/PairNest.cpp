//===- PairNest.cpp - Two accesses of a kernel as a question --------------===//

#include "PairNest.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>

namespace tally {

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// The real loops from `outer`, left out, to `inner`; outermost first.
static std::vector<LoopId> realLoopsBelow(const Kernel &kernel, LoopId outer, LoopId inner) {
  std::vector<LoopId> loops;
  for (LoopId l = inner; l != outer; l = kernel.loops[l].parent) {
    if (kernel.loops[l].kind == LoopKind::Loop) {
      loops.push_back(l);
    }
  }
  std::reverse(loops.begin(), loops.end());
  return loops;
}

PairPlace placeOfBodies(const Kernel &kernel, LoopId producerHome, LoopId consumerHome) {
  PairPlace place{producerHome, consumerHome, kernel.commonLoop(producerHome, consumerHome), {}};
  place.levels = realLoopsBelow(kernel, rootLoop, place.shared);
  if (place.shared != producerHome && place.shared != consumerHome) {
    LoopId p = kernel.childTowards(place.shared, producerHome);
    LoopId c = kernel.childTowards(place.shared, consumerHome);
    place.isOpposite = kernel.loops[p].otherBranch == c;
  }
  return place;
}

static bool hasBranchBelow(const Kernel &kernel, LoopId outer, LoopId inner) {
  for (LoopId l = inner; l != outer && l != rootLoop; l = kernel.loops[l].parent) {
    if (kernel.loops[l].isBranch()) {
      return true;
    }
  }
  return false;
}

static Extent extentOf(const Loop &loop) {
  switch (loop.trip.kind) {
  case Trip::Kind::Constant:
    return {loop.trip.constant, loop.trip.constant};
  case Trip::Kind::Value:
    return {loop.trip.min, loop.trip.max};
  case Trip::Kind::Guard:
    break;
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Expressions as text
//===----------------------------------------------------------------------===//

namespace {

/// The text of one side's loop iterations and counters.
struct SideNames {
  std::function<std::string(LoopId)> iteration;
  std::function<std::string(LoopId)> total;
};

/// The value of a text that is a number.
std::optional<int64_t> asNumber(const std::string &text) {
  int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  bool isNumber = error == std::errc() && end == text.data() + text.size();
  return isNumber ? std::optional(number) : std::nullopt;
}

class SideText {
public:
  SideText(const Kernel &kernel, const Tiles &tiles, const Tile &tile, SideNames names)
      : kernel(kernel), access(tiles.parsed(tile)), home(tile.home), names(std::move(names)) {}

  std::string expr(TileExprId id) const {
    using Kind = TileExpr::Kind;
    const TileExpr &node = access.exprs[id];
    switch (node.kind) {
    case Kind::Constant:
      return fmt::format("{}", node.value);
    case Kind::Loop:
      return names.iteration(loopOf(node));
    case Kind::Total:
      return names.total(loopOf(node));
    case Kind::Symbol:
      break;
    default:
      return operation(node, expr(node.a), node.b.valid() ? expr(node.b) : "");
    }
    assert(false && "indices with run-time values are not written");
    return {};
  }

  std::string size(const TileDim &dim) const { return dim.size.valid() ? expr(dim.size) : "1"; }

private:
  /// isl reads divisions of variables only, so numbers are calculated here.
  static std::string operation(const TileExpr &node, const std::string &a, const std::string &b) {
    using Kind = TileExpr::Kind;
    std::optional<int64_t> x = asNumber(a);
    std::optional<int64_t> y = node.b.valid() ? asNumber(b) : node.value;
    bool areNumbers = x && y;
    switch (node.kind) {
    case Kind::Add:
      return areNumbers ? std::to_string(*x + *y) : fmt::format("({} + {})", a, b);
    case Kind::Sub:
      return areNumbers ? std::to_string(*x - *y) : fmt::format("({} - {})", a, b);
    case Kind::Scale:
      return areNumbers ? std::to_string(*x * *y) : fmt::format("({} * {})", node.value, a);
    case Kind::Mod:
      return areNumbers ? std::to_string(*x - floorDiv(*x, *y) * *y)
                        : fmt::format("({} mod {})", a, node.value);
    default:
      return areNumbers ? std::to_string(floorDiv(*x, *y))
                        : fmt::format("floor({}/{})", a, node.value);
    }
  }

  LoopId loopOf(const TileExpr &node) const {
    return loopNamed(kernel, home, access.names[node.name]);
  }

  const Kernel &kernel;
  const ParsedAccess &access;
  LoopId home;
  SideNames names;
};

/// Whether some leaf of the index is of a kind that is asked for.
bool hasLeaf(const ParsedAccess &access, TileExprId id,
             const std::function<bool(const TileExpr &)> &asked) {
  if (!id.valid()) {
    return false;
  }
  const TileExpr &node = access.exprs[id];
  return asked(node) || hasLeaf(access, node.a, asked) || hasLeaf(access, node.b, asked);
}

bool hasLeaf(const ParsedAccess &access, const TileDim &dim,
             const std::function<bool(const TileExpr &)> &asked) {
  return hasLeaf(access, dim.first, asked) || hasLeaf(access, dim.size, asked);
}

bool isSymbol(const TileExpr &node) {
  return node.kind == TileExpr::Kind::Symbol;
}

bool changes(const TileExpr &node) {
  return node.kind == TileExpr::Kind::Loop || node.kind == TileExpr::Kind::Total;
}

bool isConstant(const ParsedAccess &access, const TileDim &dim) {
  auto isNumber = [&](TileExprId id) {
    return !id.valid() || access.exprs[id].kind == TileExpr::Kind::Constant;
  };
  return isNumber(dim.first) && isNumber(dim.size);
}

/// The text of one dimension by itself.
std::string dimText(const ParsedAccess &access, const TileDim &dim) {
  ParsedAccess alone = access;
  alone.dims = {dim};
  return toString(alone);
}

/// What one dimension says about whether two tiles meet.
enum class DimMeet : uint8_t {
  Always,  ///< nothing: it is the same, or all of it, or their constant ranges were compared
  Unknown, ///< nothing: it has a run-time value
  Depends, ///< on iterations or strides
};

DimMeet dimMeet(const ParsedAccess &p, const ParsedAccess &c, size_t d) {
  const TileDim &x = p.dims[d];
  const TileDim &y = c.dims[d];
  bool changing = hasLeaf(p, x, changes) || hasLeaf(c, y, changes);
  bool symbolic = hasLeaf(p, x, isSymbol) || hasLeaf(c, y, isSymbol);
  if (symbolic) {
    return !changing && dimText(p, x) == dimText(c, y) ? DimMeet::Always : DimMeet::Unknown;
  }
  auto isRange = [](const TileDim &dim) { return !dim.size.valid() || dim.stride == 1; };
  bool areRanges = isConstant(p, x) && isConstant(c, y) && isRange(x) && isRange(y);
  return areRanges ? DimMeet::Always : DimMeet::Depends;
}

/// Calls `visit` for each dimension on which it depends whether the tiles meet; says what is not
/// known.
template <typename Visit> Excess forDependingDims(const TilePair &pair, Visit visit) {
  const ParsedAccess &p = pair.tiles.parsed(pair.producer);
  const ParsedAccess &c = pair.tiles.parsed(pair.consumer);
  if (p.anywhere || c.anywhere) {
    return Excess::Anywhere;
  }
  Excess vague = Excess::None;
  for (size_t d = 0; d < std::min(p.dims.size(), c.dims.size()); ++d) {
    switch (dimMeet(p, c, d)) {
    case DimMeet::Always:
      break;
    case DimMeet::Unknown:
      vague = Excess::Symbol;
      break;
    case DimMeet::Depends:
      visit(d);
      break;
    }
  }
  return vague;
}

/// Elements first, first + stride, ... of one dimension, on both sides.
std::string meetText(const TileDim &x, const SideText &p, const TileDim &y, const SideText &c,
                     size_t d) {
  std::string px = p.expr(x.first);
  std::string cy = c.expr(y.first);
  if (!x.size.valid() && !y.size.valid()) {
    return fmt::format("({} = {})", px, cy);
  }
  std::string ps = p.size(x);
  std::string cs = c.size(y);
  bool areRanges = (!x.size.valid() || x.stride == 1) && (!y.size.valid() || y.stride == 1);
  if (areRanges) {
    return fmt::format("({} < {} + {} and {} < {} + {} and {} >= 1 and {} >= 1)", px, cy, cs, cy,
                       px, ps, ps, cs);
  }
  return fmt::format("(exists k{0}, l{0} : 0 <= k{0} < {1} and 0 <= l{0} < {2} and "
                     "{3} + {4} * k{0} = {5} + {6} * l{0})",
                     d, ps, cs, px, x.stride, cy, y.stride);
}

void addOverlap(PairNest &nest, const TilePair &pair, const SideText &p, const SideText &c) {
  const ParsedAccess &producer = pair.tiles.parsed(pair.producer);
  const ParsedAccess &consumer = pair.tiles.parsed(pair.consumer);
  nest.vague = forDependingDims(pair, [&](size_t d) {
    nest.overlap += nest.overlap.empty() ? "" : " and ";
    nest.overlap += meetText(producer.dims[d], p, consumer.dims[d], c, d);
  });
}

//===----------------------------------------------------------------------===//
// Vector and element views
//===----------------------------------------------------------------------===//

/// Gives loops their variables.
class LoopNames {
public:
  LoopNames(const TilePair &pair, PairNest &nest) : pair(pair), nest(nest) {
    const PairPlace &place = pair.place;
    producerOwn = realLoopsBelow(pair.kernel, place.shared, place.producerHome);
    consumerOwn = realLoopsBelow(pair.kernel, place.shared, place.consumerHome);
  }

  std::vector<LoopId> producerOwn;
  std::vector<LoopId> consumerOwn;
  bool areInnerPaired = false; ///< the one loop of each is a level of both

  SideNames producer() {
    return {[this](LoopId loop) { return iterationAtProducer(loop); },
            [this](LoopId loop) { return total(loop, true); }};
  }

  SideNames consumer() {
    return {[this](LoopId loop) { return iterationAtConsumer(loop); },
            [this](LoopId loop) { return total(loop, false); }};
  }

private:
  static std::optional<size_t> indexOf(const std::vector<LoopId> &loops, LoopId loop) {
    auto found = std::find(loops.begin(), loops.end(), loop);
    return found == loops.end() ? std::nullopt
                                : std::optional(static_cast<size_t>(found - loops.begin()));
  }

  std::string iterationAtProducer(LoopId loop) const {
    std::optional<size_t> level = indexOf(pair.place.levels, loop);
    if (!level && areInnerPaired) {
      level = pair.place.levels.size();
    }
    return level ? fmt::format("(c{0} - d{0})", *level)
                 : fmt::format("u{}", *indexOf(producerOwn, loop));
  }

  std::string iterationAtConsumer(LoopId loop) const {
    std::optional<size_t> level = indexOf(pair.place.levels, loop);
    if (!level && areInnerPaired) {
      level = pair.place.levels.size();
    }
    return level ? fmt::format("c{}", *level) : fmt::format("w{}", *indexOf(consumerOwn, loop));
  }

  /// Earlier entries of a body: a formula if all loops farther in than the outermost run equally
  /// often each time, else a counter.
  std::string total(LoopId body, bool atProducer) {
    const Kernel &kernel = pair.kernel;
    std::vector<LoopId> loops = realLoopsBelow(kernel, rootLoop, body);
    bool hasFormula = loops.empty() || !hasBranchBelow(kernel, loops.front(), body);
    std::string formula = "0";
    for (size_t i = 0; i < loops.size() && hasFormula; ++i) {
      Extent extent = extentOf(kernel.loops[loops[i]]);
      std::string own = atProducer ? iterationAtProducer(loops[i]) : iterationAtConsumer(loops[i]);
      formula = i == 0 ? own : fmt::format("({} * {} + {})", *extent.max, formula, own);
      bool isLast = i + 1 == loops.size();
      hasFormula = isLast || extentOf(kernel.loops[loops[i + 1]]).isConstant();
    }
    return hasFormula ? formula
                      : fmt::format("{}{}", atProducer ? 's' : 't', counterOf(body, atProducer));
  }

  /// The counter of a body around both is one; others are each side's own.
  size_t counterOf(LoopId body, bool atProducer) {
    bool isShared = pair.kernel.encloses(body, pair.place.shared);
    for (size_t i = 0; i < counted.size(); ++i) {
      if (counted[i].first == body && (isShared || counted[i].second == atProducer)) {
        return i;
      }
    }
    Counter counter;
    counter.isShared = isShared;
    counter.levels = static_cast<uint32_t>(realLoopsBelow(pair.kernel, rootLoop, body).size());
    counter.isBranch = pair.kernel.loops[body].isBranch();
    counter.minTrips = extentOf(pair.kernel.loops[body]).min;
    nest.counters.push_back(counter);
    counted.emplace_back(body, atProducer);
    return counted.size() - 1;
  }

  const TilePair &pair;
  PairNest &nest;
  std::vector<std::pair<LoopId, bool>> counted;
};

void addExtents(const Kernel &kernel, std::vector<Extent> &extents,
                const std::vector<LoopId> &loops) {
  for (LoopId loop : loops) {
    extents.push_back(extentOf(kernel.loops[loop]));
  }
}

PairNest commonPart(const TilePair &pair) {
  const PairPlace &place = pair.place;
  PairNest nest;
  for (LoopId loop : place.levels) {
    Extent extent = extentOf(pair.kernel.loops[loop]);
    nest.levels.push_back({extent, extent});
  }
  LoopId innermost = place.levels.empty() ? rootLoop : place.levels.back();
  LoopId outermost = place.levels.empty() ? rootLoop : place.levels.front();
  nest.zeroIsOrdered = pair.producerIsBefore && !place.isOpposite;
  nest.consumerSkips = hasBranchBelow(pair.kernel, innermost, place.consumerHome);
  nest.producerSkips = hasBranchBelow(pair.kernel, outermost, place.producerHome);
  return nest;
}

void addOverlap(PairNest &nest, const TilePair &pair, LoopNames &names) {
  SideText producer(pair.kernel, pair.tiles, pair.producer, names.producer());
  SideText consumer(pair.kernel, pair.tiles, pair.consumer, names.consumer());
  addOverlap(nest, pair, producer, consumer);
}

} // namespace

PairNest vectorView(const TilePair &pair) {
  PairNest nest = commonPart(pair);
  LoopNames names(pair, nest);
  addExtents(pair.kernel, nest.producerOwn, names.producerOwn);
  addExtents(pair.kernel, nest.consumerOwn, names.consumerOwn);
  addOverlap(nest, pair, names);
  return nest;
}

std::optional<PairNest> elementView(const TilePair &pair) {
  const Kernel &kernel = pair.kernel;
  const Loop &producerLoop = kernel.loops[pair.place.producerHome];
  const Loop &consumerLoop = kernel.loops[pair.place.consumerHome];
  bool isPair = pair.place.producerHome != pair.place.consumerHome &&
                producerLoop.kind == LoopKind::Loop && consumerLoop.kind == LoopKind::Loop &&
                producerLoop.parent == consumerLoop.parent;
  if (!isPair) {
    return std::nullopt;
  }
  PairNest nest = commonPart(pair);
  nest.consumerSkips = false;
  nest.unpaired = static_cast<uint32_t>(nest.levels.size());
  nest.pairedFrom = nest.unpaired == 0 ? 0 : nest.unpaired - 1;
  nest.levels.push_back({extentOf(producerLoop), extentOf(consumerLoop)});
  LoopNames names(pair, nest);
  names.areInnerPaired = true;
  addOverlap(nest, pair, names);
  return nest;
}

//===----------------------------------------------------------------------===//
// Flat view
//===----------------------------------------------------------------------===//

/// Whether an index says nothing but how often `body` ran; notes if it says that.
static bool countsOnly(const TilePair &pair, const Tile &tile, const TileDim &dim, LoopId body,
                       bool &counts) {
  const ParsedAccess &access = pair.tiles.parsed(tile);
  bool isOther = hasLeaf(access, dim, [&](const TileExpr &node) {
    return changes(node) && (node.kind == TileExpr::Kind::Loop ||
                             loopNamed(pair.kernel, tile.home, access.names[node.name]) != body);
  });
  counts |= hasLeaf(access, dim, changes);
  return !isOther;
}

std::optional<PairNest> flatView(const TilePair &pair) {
  const PairPlace &place = pair.place;
  LoopId body = place.consumerHome;
  if (place.producerHome != body || place.levels.empty()) {
    return std::nullopt;
  }
  bool counts = false;
  bool isFlat = true;
  forDependingDims(pair, [&](size_t d) {
    const ParsedAccess &p = pair.tiles.parsed(pair.producer);
    const ParsedAccess &c = pair.tiles.parsed(pair.consumer);
    isFlat &= countsOnly(pair, pair.producer, p.dims[d], body, counts) &&
              countsOnly(pair, pair.consumer, c.dims[d], body, counts);
  });
  bool hasOneLoop = place.levels.size() == 1 && (!counts || place.levels[0] == body);
  if (!isFlat || hasOneLoop) {
    return std::nullopt;
  }
  PairNest nest;
  nest.levels.push_back({});
  nest.zeroIsOrdered = pair.producerIsBefore;
  auto none = [](LoopId) { return std::string(); };
  SideText producer(pair.kernel, pair.tiles, pair.producer,
                    {none, [](LoopId) { return "(c0 - d0)"; }});
  SideText consumer(pair.kernel, pair.tiles, pair.consumer, {none, [](LoopId) { return "c0"; }});
  addOverlap(nest, pair, producer, consumer);
  return nest;
}

} // namespace tally
