//===- PairNest.cpp - Two accesses of a kernel as a question --------------===//

#include "PairNest.h"

#include "Repeats.h"
#include "TileMeet.h"

#include "tally/Model/RunNumbers.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally::deps {

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

PairPlace placeOfBodies(const Kernel &kernel, LoopId producerHome, LoopId consumerHome) {
  PairPlace place{
      producerHome, consumerHome, kernel.commonLoop(producerHome, consumerHome), {}, {}};
  place.levels = kernel.realLoops(place.shared);
  if (place.shared != producerHome && place.shared != consumerHome) {
    LoopId p = kernel.childTowards(place.shared, producerHome);
    LoopId c = kernel.childTowards(place.shared, consumerHome);
    place.branch = kernel.loops[p].otherBranch == c ? p : LoopId();
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

/// Likewise, and about one of them only the run decides.
static bool hasOpenBranchBelow(const Kernel &kernel, LoopId outer, LoopId inner) {
  for (LoopId l = inner; l != outer && l != rootLoop; l = kernel.loops[l].parent) {
    if (kernel.loops[l].isBranch() && kernel.loops[l].trip.isOpaque()) {
      return true;
    }
  }
  return false;
}

static Extent extentOf(const Loop &loop) {
  return {loop.trip.least(), loop.trip.most(), {}};
}

//===----------------------------------------------------------------------===//
// Vector and element views
//===----------------------------------------------------------------------===//

namespace {

/// The variable of a value, one of those of the nest; `values` has them so far.
std::string valueName(const Kernel &kernel, RunValueId id, std::vector<RunValueId> &values,
                      PairNest &nest) {
  const RunValue &value = kernel.values[id];
  if (value.max == value.min) {
    return fmt::format("{}", value.min);
  }
  auto found = std::ranges::find(values, id);
  if (found == values.end()) {
    values.push_back(id);
    nest.values.push_back({value.min, value.max, {}});
    return fmt::format("v{}", values.size() - 1);
  }
  return fmt::format("v{}", found - values.begin());
}

/// Gives loops their variables.
class LoopNames {
public:
  LoopNames(const TilePair &pair, PairNest &nest) : pair(pair), nest(nest) {
    const PairPlace &place = pair.place;
    producerOwn = pair.kernel.realLoops(place.producerHome, place.shared);
    consumerOwn = pair.kernel.realLoops(place.consumerHome, place.shared);
  }

  const Kernel &kernel() const { return pair.kernel; }

  std::vector<LoopId> producerOwn;
  std::vector<LoopId> consumerOwn;
  std::vector<CountedBody> counted; ///< by counters of the nest
  std::vector<RunValueId> values;   ///< by values of the nest
  std::optional<SideBySide> paired; ///< the runs of these are numbered by the last level

  SideNames side(bool atProducer) {
    return {[this, atProducer](LoopId loop) { return iteration(loop, atProducer); },
            [this, atProducer](LoopId loop) { return total(loop, atProducer); },
            [this, atProducer](LoopId loop) { return trips(loop, atProducer); },
            [this](RunValueId id) { return value(id); }};
  }

  /// Whether one of the two that are paired is more than one loop.
  bool isNest() const {
    return paired->producer.loops().size() > 1 || paired->consumer.loops().size() > 1;
  }

  /// What is known of a loop of one side; `outside` this one are its own names.
  Extent extentOf(LoopId loop, bool atProducer) {
    Extent extent = deps::extentOf(pair.kernel.loops[loop]);
    bool isFormula = pair.kernel.loops[loop].trip.kind == Trip::Kind::Formula;
    if (isFormula && !extent.isConstant()) {
      extent.formula = formula(loop, atProducer);
    }
    return extent;
  }

private:
  static std::optional<size_t> indexOf(const std::vector<LoopId> &loops, LoopId loop) {
    auto found = std::find(loops.begin(), loops.end(), loop);
    return found == loops.end() ? std::nullopt
                                : std::optional(static_cast<size_t>(found - loops.begin()));
  }

  std::optional<size_t> levelOf(LoopId loop) const {
    std::optional<size_t> level = indexOf(pair.place.levels, loop);
    return !level && paired && !isNest() ? pair.place.levels.size() : level;
  }

  const std::vector<LoopId> &ownLoops(bool atProducer) const {
    return atProducer ? producerOwn : consumerOwn;
  }

  std::string iteration(LoopId loop, bool atProducer) const {
    if (std::optional<size_t> level = levelOf(loop)) {
      return coordinate(*level, atProducer);
    }
    if (paired) {
      return iterationInNest(loop, atProducer);
    }
    return fmt::format("{}{}", atProducer ? 'u' : 'w', *indexOf(ownLoops(atProducer), loop));
  }

  static std::string coordinate(size_t level, bool atProducer) {
    return atProducer ? fmt::format("(c{0} - d{0})", level) : fmt::format("c{}", level);
  }

  /// What the number of the run says of a loop of the nest.
  std::string iterationInNest(LoopId loop, bool atProducer) const {
    const RunNumbers &nest = atProducer ? paired->producer : paired->consumer;
    std::string rest = coordinate(pair.place.levels.size(), atProducer);
    size_t level = *indexOf(ownLoops(atProducer), loop);
    if (level > 0) {
      rest = fmt::format("(({}) mod {})", rest, nest.runsPerIteration(level - 1));
    }
    uint64_t runs = nest.runsPerIteration(level);
    return runs == 1 ? rest : fmt::format("floor(({}) / {})", rest, runs);
  }

  std::string formula(LoopId loop, bool atProducer) {
    const BodyTile &formula = pair.kernel.tiles->formulaOf(loop);
    return TileText(formula, side(atProducer)).expr(formula.access.dims[0].first);
  }

  std::string value(RunValueId id) { return valueName(pair.kernel, id, values, nest); }

  /// Earlier entries of a body: as many for each entry of a loop around it as the loops between
  /// say, where they run equally often each time; of the outermost loop the iteration tells how
  /// many.
  std::string total(LoopId body, bool atProducer) {
    const Kernel &kernel = pair.kernel;
    std::vector<LoopId> loops = kernel.realLoops(body);
    if (loops.empty()) {
      return "0";
    }
    if (loops.back() != body) { // a branch
      return counter(body, atProducer);
    }
    size_t first = loops.size() - 1;
    while (first > 0 && deps::extentOf(kernel.loops[loops[first]]).isConstant() &&
           !hasBranchBelow(kernel, loops[first - 1], loops[first])) {
      --first;
    }
    std::string formula =
        first == 0 ? iteration(loops[0], atProducer) : counter(loops[first], atProducer);
    for (size_t i = first + 1; i < loops.size(); ++i) {
      formula = fmt::format("({} * {} + {})", *deps::extentOf(kernel.loops[loops[i]]).max, formula,
                            iteration(loops[i], atProducer));
    }
    return formula;
  }

  std::string counter(LoopId body, bool atProducer) {
    return fmt::format("{}{}", atProducer ? 's' : 't', counterOf(body, atProducer));
  }

  /// How often a loop runs this time: a number, or a variable.
  std::string trips(LoopId loop, bool atProducer) {
    Extent extent = extentOf(loop, atProducer);
    if (extent.isKnown()) {
      return extent.isConstant() ? fmt::format("{}", *extent.max) : extent.formula;
    }
    std::optional<size_t> level = levelOf(loop);
    size_t place = level ? *level : *indexOf(ownLoops(atProducer), loop);
    Length length{static_cast<uint32_t>(place), !level, atProducer};
    auto found = std::find(nest.lengths.begin(), nest.lengths.end(), length);
    if (found == nest.lengths.end()) {
      nest.lengths.push_back(length);
      found = nest.lengths.end() - 1;
    }
    return fmt::format("n{}", found - nest.lengths.begin());
  }

  /// The counter of a body around both is one; others are each side's own.
  size_t counterOf(LoopId body, bool atProducer) {
    bool isShared = pair.kernel.encloses(body, pair.place.shared);
    for (size_t i = 0; i < counted.size(); ++i) {
      if (counted[i].body == body && (isShared || counted[i].atProducer == atProducer)) {
        return i;
      }
    }
    EntryCounter counter;
    counter.isShared = isShared;
    counter.levels = static_cast<uint32_t>(pair.kernel.realLoops(body).size());
    counter.isBranch = pair.kernel.loops[body].isBranch();
    counter.minTrips = deps::extentOf(pair.kernel.loops[body]).min;
    nest.counters.push_back(counter);
    counted.push_back({body, atProducer});
    return counted.size() - 1;
  }

  const TilePair &pair;
  PairNest &nest;
};

/// The levels, after all else that names values. All runs in the iterations of the outermost loop
/// up to that of the consumer exist, however often it runs: so its trips need not be a formula of
/// values that nothing else names.
void addLevels(const PairPlace &place, LoopNames &names, PairNest &nest, bool mayBePlain) {
  for (LoopId loop : place.levels) {
    bool isPlain = mayBePlain && nest.levels.empty() && nest.values.empty();
    Extent plain = extentOf(names.kernel().loops[loop]);
    nest.levels.push_back({isPlain ? plain : names.extentOf(loop, true),
                           isPlain ? plain : names.extentOf(loop, false)});
  }
}

void addExtents(LoopNames &names, bool atProducer, std::vector<Extent> &extents,
                const std::vector<LoopId> &loops) {
  for (LoopId loop : loops) {
    extents.push_back(names.extentOf(loop, atProducer));
  }
}

PairNest commonPart(const TilePair &pair) {
  const PairPlace &place = pair.place;
  PairNest nest;
  LoopId innermost = place.levels.empty() ? rootLoop : place.levels.back();
  LoopId outermost = place.levels.empty() ? rootLoop : place.levels.front();
  bool isEither =
      place.branch.valid() && (pair.isOneEngine || pair.kernel.loops[place.branch].uniform);
  nest.zeroIsOrdered = pair.producerIsBefore && !isEither;
  const std::vector<LoopId> own = pair.kernel.realLoops(place.consumerHome, place.shared);
  nest.consumerSkips =
      hasBranchBelow(pair.kernel, own.empty() ? innermost : own.front(), place.consumerHome);
  nest.producerSkips = hasBranchBelow(pair.kernel, outermost, place.producerHome);
  nest.consumerIsOpen = hasBranchBelow(pair.kernel, innermost, place.consumerHome);
  nest.producerIsOpen = nest.producerSkips;
  return nest;
}

void addMeeting(PairNest &nest, std::span<const TilePair> pairs, const SideNames &producer,
                const SideNames &consumer) {
  bool always = false;
  for (const TilePair &pair : pairs) {
    Meeting meeting = meetingOf(pair, producer, consumer);
    always |= meeting.condition.empty();
    nest.overlap += fmt::format("{}({})", nest.overlap.empty() ? "" : " or ", meeting.condition);
    nest.vague = nest.vague == Excess::None ? meeting.vague : nest.vague;
  }
  nest.overlap = always ? "" : nest.overlap;
}

/// What the branches around the two say of the iterations in which they are taken. Guards of tiles
/// say most of it.
void addTaken(PairNest &nest, const TilePair &pair, LoopNames &names) {
  const LoopId producer = pair.place.producerHome, consumer = pair.place.consumerHome;
  nest.consumerRuns = takenText(pair.kernel, consumer, names.side(false));
  nest.producerRuns = takenText(pair.kernel, producer, names.side(true));
  for (const std::string &more : {otherwiseText(pair.kernel, producer, names.side(true)),
                                  otherwiseText(pair.kernel, consumer, names.side(false))}) {
    if (!more.empty()) {
      nest.overlap = nest.overlap.empty() ? more : fmt::format("({}) and {}", nest.overlap, more);
    }
  }
  const std::vector<LoopId> &levels = pair.place.levels;
  const LoopId innermost = levels.empty() ? rootLoop : levels.back();
  const LoopId outermost = levels.empty() ? rootLoop : levels.front();
  nest.consumerIsOpen = hasOpenBranchBelow(pair.kernel, innermost, consumer);
  nest.producerIsOpen = hasOpenBranchBelow(pair.kernel, outermost, producer);
}

void addRepeats(PairNest &nest, std::span<const TilePair> pairs, LoopId counted) {
  nest.repeats = nest.isToldByLevels() ? repeatsOf(pairs, counted) : 0;
}

} // namespace

PairNest vectorView(std::span<const TilePair> pairs, NestNames *meaning) {
  const TilePair &pair = pairs.front();
  PairNest nest = commonPart(pair);
  LoopNames names(pair, nest);
  addExtents(names, true, nest.producerOwn, names.producerOwn);
  addExtents(names, false, nest.consumerOwn, names.consumerOwn);
  addMeeting(nest, pairs, names.side(true), names.side(false));
  addTaken(nest, pair, names);
  addLevels(pair.place, names, nest, meaning == nullptr);
  if (!pair.place.levels.empty()) {
    addRepeats(nest, pairs, pair.place.levels.front());
  }
  if (meaning) {
    *meaning = {std::move(names.counted), std::move(names.values)};
  }
  return nest;
}

/// How many runs a nest has: so often its outermost loop runs, times the runs in each iteration.
static Extent runsOf(const RunNumbers &numbers, LoopNames &names, bool atProducer, bool isPlain) {
  if (numbers.isSingle()) {
    Extent once;
    once.min = 1;
    once.max = 1;
    return once;
  }
  const LoopId outermost = numbers.loops().front();
  Extent extent =
      isPlain ? extentOf(names.kernel().loops[outermost]) : names.extentOf(outermost, atProducer);
  uint64_t runs = numbers.runsPerIteration(0);
  if (runs == 1) {
    return extent;
  }
  constexpr uint64_t many = maxCount;
  extent.min = std::min(extent.min, many / runs) * runs;
  bool isBounded = extent.max && *extent.max <= many / runs;
  extent.max = isBounded ? std::optional(*extent.max * runs) : std::nullopt;
  extent.multipleOf = runs;
  extent.formula = extent.formula.empty() ? "" : fmt::format("({} * ({}))", runs, extent.formula);
  return extent;
}

/// The runs of both are numbered in each iteration of the body around both; or, in a turn, in all
/// of them.
static std::optional<PairNest> elementViewOf(std::span<const TilePair> pairs, bool isTurn) {
  const TilePair &pair = pairs.front();
  const Kernel &kernel = pair.kernel;
  std::optional<SideBySide> paired =
      sideBySide(kernel, pair.place.shared, pair.place.producerHome, pair.place.consumerHome);
  if (!paired) {
    return std::nullopt;
  }
  PairNest nest = commonPart(pair);
  nest.consumerSkips = false;
  nest.consumerIsOpen = false;
  nest.unpaired = static_cast<uint32_t>(pair.place.levels.size());
  nest.pairedFrom = nest.unpaired == 0 ? 0 : nest.unpaired - 1;
  LoopNames names(pair, nest);
  names.paired = paired;
  addMeeting(nest, pairs, names.side(true), names.side(false));
  bool isPlain = isTurn && pair.place.levels.empty() && nest.values.empty();
  PairNest::Level runs{runsOf(paired->producer, names, true, isPlain),
                       runsOf(paired->consumer, names, false, isPlain)};
  addLevels(pair.place, names, nest, true);
  nest.levels.push_back(std::move(runs));
  if (!pair.place.levels.empty()) {
    addRepeats(nest, pairs, pair.place.levels.front());
  }
  if (names.isNest() && (!nest.lengths.empty() || !nest.counters.empty())) {
    return std::nullopt;
  }
  return nest;
}

std::optional<PairNest> elementView(std::span<const TilePair> pairs) {
  return elementViewOf(pairs, false);
}

std::optional<PairNest> elementView(std::span<const TilePair> pairs, LoopId over) {
  const Kernel &kernel = pairs.front().kernel;
  const PairPlace &place = pairs.front().place;
  const LoopId outer = kernel.loops[over].parent;
  std::vector<TilePair> within(pairs.begin(), pairs.end());
  for (TilePair &pair : within) {
    pair.place = {place.producerHome, place.consumerHome, outer, kernel.realLoops(outer), {}};
  }
  std::optional<PairNest> nest = elementViewOf(within, true);
  if (!nest) {
    return std::nullopt;
  }
  const SideBySide nests = *sideBySide(kernel, outer, place.producerHome, place.consumerHome);
  nest->turn = {nests.producer.runsPerIterationOf(place.shared),
                nests.consumer.runsPerIterationOf(place.shared), pairs.front().producerIsBefore};
  if (within[0].place.levels.empty()) {
    addRepeats(*nest, within, over);
    nest->repeats *= nests.producer.runsPerIterationOf(over) / nest->turn->producerRuns;
  }
  // Within an iteration of all loops outside, the producer's run comes first.
  const size_t last = nest->levels.size() - 1;
  std::string order = fmt::format("floor((c{0} - d{0}) / {1}) {2} floor(c{0} / {3})", last,
                                  nest->turn->producerRuns, nest->turn->isOrdered ? "<=" : "<",
                                  nest->turn->consumerRuns);
  for (size_t level = 0; level < last; ++level) {
    order += fmt::format(" or d{} != 0", level);
  }
  nest->zeroIsOrdered = true;
  nest->overlap = nest->overlap.empty() ? fmt::format("({})", order)
                                        : fmt::format("({}) and ({})", nest->overlap, order);
  return nest;
}

//===----------------------------------------------------------------------===//
// Flat view
//===----------------------------------------------------------------------===//

/// How often a body runs in all; nothing beyond the counts that there are.
static Extent entriesOf(const Kernel &kernel, LoopId body) {
  Extent all;
  uint64_t most = 1;
  for (LoopId loop : kernel.realLoops(body)) {
    std::optional<uint64_t> max = kernel.loops[loop].trip.most();
    if (!max || __builtin_mul_overflow(most, *max, &most) || most > maxCount) {
      return all;
    }
  }
  all.max = most;
  return all;
}

std::optional<PairNest> flatView(const TilePair &pair) {
  const PairPlace &place = pair.place;
  TilePair counted = pair;
  counted.countsRuns = true;
  LoopId body = place.consumerHome;
  if (place.producerHome != body || place.levels.empty()) {
    return std::nullopt;
  }
  bool counts = false;
  bool isFlat = true;
  auto look = [&](const TileBox &tile, TileExprId expr) {
    const BodyTile &read = pair.tiles.read(tile);
    const ParsedAccess &access = read.access;
    auto isCount = [&](const TileExpr &node) {
      return node.kind == TileExpr::Kind::Total && read.loopOf(node) == body;
    };
    counts |= hasLeaf(access, expr, isCount);
    isFlat &= !hasLeaf(access, expr, [&](const TileExpr &node) {
      return (node.kind == TileExpr::Kind::Total && !isCount(node)) ||
             node.kind == TileExpr::Kind::Loop || node.kind == TileExpr::Kind::Trips;
    });
  };
  forDecidingExprs(counted, look, [&](const TileBox &tile, const TileGuard &guard) {
    look(tile, guard.left);
    look(tile, guard.right);
  });
  bool hasOneLoop = place.levels.size() == 1 && (!counts || place.levels[0] == body);
  if (!isFlat || hasOneLoop) {
    return std::nullopt;
  }
  PairNest nest;
  Extent entries = entriesOf(pair.kernel, body);
  nest.levels.push_back({entries, entries});
  nest.zeroIsOrdered = pair.producerIsBefore;
  auto none = [](LoopId) { return std::string(); };
  std::vector<RunValueId> values;
  auto value = [&](RunValueId id) { return valueName(pair.kernel, id, values, nest); };
  addMeeting(nest, {&counted, 1}, {none, [](LoopId) { return "(c0 - d0)"; }, none, value},
             {none, [](LoopId) { return "c0"; }, none, value});
  addRepeats(nest, {&counted, 1}, body);
  return nest;
}

} // namespace tally::deps
