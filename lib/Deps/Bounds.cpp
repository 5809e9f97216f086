//===- Bounds.cpp - Whether tiles stay within their buffers ---------------===//

#include "tally/Deps/Bounds.h"

#include "tally/Deps/Denied.h"
#include "tally/Deps/Unstated.h"
#include "tally/Model/Check.h"
#include "tally/Model/NeverRuns.h"
#include "tally/Model/Values.h"

#include "CountedTiles.h"
#include "Isl.h"
#include "LeavingText.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace tally {

using namespace deps;

/// What one question may take, in isl's operations: milliseconds. Some of those that need more are
/// asked once again, with more patience. After so many that stay open no other is asked; nor after
/// so many runs that touch nothing.
static constexpr uint64_t maxOperations = 100'000;
static constexpr uint64_t maxOfHardQuestion = 2'000'000;
static constexpr uint32_t mostHardQuestions = 4;
static constexpr uint32_t mostGivenUp = 50;
static constexpr uint32_t mostSplits = 6;
static constexpr size_t mostOfTouching = 1000;

namespace {

//===----------------------------------------------------------------------===//
// 2., 3. One dimension of one tile
//===----------------------------------------------------------------------===//

/// What is known of one form of a tile; kernels with other names have the same.
struct Answer {
  bool stays = false;
  TileBound::Kind kind = TileBound::Kind::TooHard;
  std::vector<int64_t> point;           ///< a run that leaves
  std::optional<int64_t> smallestCount; ///< Open, of one loop: by how often it runs

  bool isTooHard() const { return !stays && kind == TileBound::Kind::TooHard; }
};

class Question {
public:
  Question(IslContext &context, const LeavingText &text) : context(context), text(text) {}

  Answer ask(uint64_t operations) {
    if (text.numSplits() > mostSplits) {
      return {};
    }
    context.startQuestion(operations);
    answer = {};
    IslSet leaving = context.parse(text.leaving());
    bool stays = leaving.isEmpty();
    if (!context.gaveUp() && !stays) {
      judge(leaving);
    }
    if (context.gaveUp()) {
      return {};
    }
    answer.stays = stays;
    return std::move(answer);
  }

private:
  void judge(const IslSet &leaving) {
    bool isOpen = !text.unbounded().empty() || !text.symbols().empty() || text.hasTiedTotal();
    IslSet certain = isOpen ? certainOnes() : leaving.clone();
    // With the fewest trips of a loop around, one with a formula may not run at all.
    bool isRunRarely = !isOpen || !text.hasFormula() || !context.parse(text.anyway()).isEmpty();
    bool isOneRun = isRunRarely && !certain.isEmpty();
    bool isCertain = isRunRarely && (isOneRun || leavesInSomeRun());
    if (context.gaveUp()) {
      return;
    }
    answer.kind = isCertain ? TileBound::Kind::Leaves : TileBound::Kind::Open;
    if (isOpen && isOneRun) {
      pick(certain, text.numKnown());
      IslSet rest = context.parse(text.leavingAnyway());
      for (size_t i = 0; i < answer.point.size(); ++i) {
        rest = rest.fixed(static_cast<uint32_t>(i), answer.point[i]);
      }
      pick(rest, text.numVariables());
    } else if (isOpen && isCertain) {
      pickOpenFirst();
    } else {
      pick(leaving, text.numVariables());
    }
    if (!isCertain) {
      findSmallestCount(leaving);
    }
  }

  /// What is known of runs that leave, whatever the rest is.
  IslSet certainOnes() {
    IslSet leaving = context.parse(text.leavingAnyway());
    uint32_t known = static_cast<uint32_t>(text.numKnown());
    uint32_t open = static_cast<uint32_t>(text.numVariables()) - known;
    if (open == 0 || leaving.isBad()) {
      return leaving;
    }
    IslSet staying = context.parse(text.anyway()) - leaving;
    return staying.isBad() ? std::move(staying)
                           : leaving.without(known, open) - staying.without(known, open);
  }

  /// Whether, whatever is left open, some run leaves: now this one, now that.
  bool leavesInSomeRun() {
    uint32_t known = static_cast<uint32_t>(text.numKnown());
    IslSet leaving = context.parse(text.leavingAnyway());
    return (context.parse(text.anyway()).without(0, known) - leaving.without(0, known)).isEmpty();
  }

  /// The first point, in lexicographic order; run-time values are not negative if they need not.
  void pick(const IslSet &set, size_t end) {
    IslSet rest = set.clone();
    for (uint32_t i = 0; i < end && !context.gaveUp(); ++i) {
      if (i >= answer.point.size()) {
        answer.point.push_back(valueIn(rest, i));
      }
      rest = rest.fixed(i, answer.point[i]);
    }
  }

  /// One that leaves for the least of what is left open.
  void pickOpenFirst() {
    IslSet rest = context.parse(text.leavingAnyway());
    answer.point.assign(text.numVariables(), 0);
    for (size_t n = 0; n < answer.point.size() && !context.gaveUp(); ++n) {
      size_t i = (text.numKnown() + n) % answer.point.size();
      answer.point[i] = valueIn(rest, static_cast<uint32_t>(i));
      rest = rest.fixed(static_cast<uint32_t>(i), answer.point[i]);
    }
  }

  int64_t valueIn(const IslSet &set, uint32_t coordinate) const {
    if (!text.isSymbol(coordinate)) {
      return set.smallest(coordinate).value_or(0);
    }
    IslSet positive = set.atLeast(coordinate, 0);
    return (positive.isEmpty() ? set.largest(coordinate) : positive.smallest(coordinate))
        .value_or(0);
  }

  void findSmallestCount(const IslSet &leaving) {
    std::vector<LoopId> loops = text.unbounded();
    if (loops.size() == 1 && text.symbols().empty() && text.canCount(loops[0])) {
      bool isTrips = false;
      size_t at = text.countOf(loops[0], isTrips);
      std::optional<int64_t> smallest = leaving.smallest(static_cast<uint32_t>(at));
      bool isLeast = isTrips && smallest && *smallest <= text.leastCount(loops[0]);
      smallest = isLeast ? std::nullopt : smallest; // no 'max' is small enough
      answer.smallestCount = smallest ? std::optional(*smallest - (isTrips ? 1 : 0)) : smallest;
    }
  }

  IslContext &context;
  const LeavingText &text;
  Answer answer;
};

//===----------------------------------------------------------------------===//
// One kernel
//===----------------------------------------------------------------------===//

class BoundFinder {
public:
  explicit BoundFinder(const Kernel &kernel)
      : kernel(kernel), tiles(kernel), byTile(tiles.size()), isIdle(kernel.loops.size()) {
    for (LoopId id : kernel.loops.ids()) {
      isIdle[id] = neverRuns(kernel, id);
    }
  }

  std::vector<TileBound> run() {
    std::vector<TileBound> all;
    walkTiles();
    for (InstrId instr : kernel.instrs.ids()) {
      for (AccessId access : kernel.instrs[instr].accesses) {
        for (TileBound bound : boundsOf(tiles.of(access))) {
          bound.first.instr = instr;
          bound.first.access = access;
          all.push_back(std::move(bound));
        }
      }
    }
    return all;
  }

private:
  /// Those by what is counted, several at once.
  void walkTiles() {
    std::vector<TileId> asked;
    for (uint32_t i = 0; i < tiles.size(); ++i) {
      const TileBox &tile = tiles[TileId(i)];
      for (uint32_t d = 0; d < tiles.parsed(tile).dims.size(); ++d) {
        if (!isIdle[tile.home] && !isInside(tile, d)) {
          asked.push_back(TileId(i));
          break;
        }
      }
    }
    counted = walkCounted(kernel, tiles, asked);
  }

  const std::vector<TileBound> &boundsOf(TileId id) {
    if (!byTile[id]) {
      byTile[id] = findBounds(tiles[id]);
    }
    return *byTile[id];
  }

  std::vector<TileBound> findBounds(const TileBox &tile) {
    std::vector<TileBound> found;
    const ParsedAccess &access = tiles.parsed(tile);
    for (uint32_t d = 0; d < access.dims.size() && !isIdle[tile.home]; ++d) {
      if (isInside(tile, d)) {
        continue;
      }
      auto walked = counted.find({tile.id, d});
      if (walked == counted.end()) {
        ask(LeavingText(kernel, tile, tiles.read(tile), d), d, found);
      } else if (!walked->second.isAll) {
        LeavingText text(kernel, tile, tiles.read(tile), d);
        size_t before = found.size();
        ask(text, d, found);
        if (found.size() > before) {
          tellWalked(walked->second, text, found.back());
        }
      } else if (walked->second.first) {
        found.push_back({TileBound::Kind::Leaves, *walked->second.first, {}, {}, {}, false});
      }
    }
    return found;
  }

  /// From intervals alone.
  bool isInside(const TileBox &tile, uint32_t d) const {
    const Bounds &box = tiles.bounds(tile)[d];
    return box.isEmpty() ||
           (box.first >= 0 && box.last < Bounds::endless &&
            static_cast<uint64_t>(box.last) < kernel.buffers[tile.buffer].shape[d]);
  }

  /// What isl knows of counts is less than what is so: only the walk has seen a run that there is.
  void tellWalked(const CountedAnswer &walked, const LeavingText &text, TileBound &bound) const {
    bound.enoughMax = walked.enoughMax;
    if (walked.first) {
      bound.first = *walked.first;
      bound.unbounded = text.unbounded();
      bool isLeft = bound.kind == TileBound::Kind::Leaves || bound.unbounded.empty();
      bound.kind = isLeft ? TileBound::Kind::Leaves : TileBound::Kind::Open;
    } else if (bound.kind != TileBound::Kind::Leaves) {
      bound.kind = TileBound::Kind::TooHard;
      bound.unbounded.clear();
    }
    bound.isCounted = true;
  }

  void ask(const LeavingText &text, uint32_t dim, std::vector<TileBound> &found) {
    const Answer &answer = answerTo(text);
    if (answer.stays) {
      return;
    }
    TileBound &bound = found.emplace_back();
    bound.kind = answer.kind;
    bound.first.dim = dim;
    if (answer.kind != TileBound::Kind::TooHard) {
      bound.first.index = text.indexAt(answer.point);
      bound.first.iteration = text.iterationAt(answer.point);
      bound.first.also = text.alsoAt(answer.point);
    }
    if (answer.kind == TileBound::Kind::Open) {
      bound.unbounded = text.unbounded();
      bound.values = text.symbols();
      bound.enoughMax = answer.smallestCount;
    }
  }

  const Answer &answerTo(const LeavingText &text) {
    std::string key = fmt::format("{}{}{}", text.leaving(), text.anyway(), text.numKnown());
    auto [found, isNew] = answers.try_emplace(std::move(key));
    if (isNew && numGivenUp < mostGivenUp) {
      Question question(context, text);
      found->second = question.ask(maxOperations);
      if (found->second.isTooHard() && numHard < mostHardQuestions) {
        ++numHard;
        found->second = question.ask(maxOfHardQuestion);
      }
      numGivenUp += found->second.isTooHard();
    }
    return found->second;
  }

  const Kernel &kernel;
  TileBoxes tiles;
  IdVector<TileId, std::optional<std::vector<TileBound>>> byTile;
  IdVector<LoopId, bool> isIdle; ///< what is in this body never runs
  IslContext context;
  std::unordered_map<std::string, Answer> answers;
  std::map<std::pair<TileId, uint32_t>, CountedAnswer> counted; ///< by tile and dimension
  uint32_t numHard = 0;
  uint32_t numGivenUp = 0;
};

} // namespace

std::vector<TileBound> findTileBounds(const Kernel &kernel) {
  return kernel.accesses.empty() ? std::vector<TileBound>() : BoundFinder(kernel).run();
}

std::vector<TileBound> findTileBounds(const Kernel &kernel, const Bindings &bindings) {
  Kernel bound = kernel;
  for (RunValueId id : bound.values.ids()) {
    bound.values[id].min = static_cast<uint64_t>(bindings.values()[id.value]);
    bound.values[id].max = bound.values[id].min;
  }
  for (LoopId id : bound.loops.ids()) {
    Loop &loop = bound.loops[id];
    if (loop.kind == LoopKind::Loop && loop.trip.kind != Trip::Kind::Formula) {
      auto [fewest, most] = bindings.tripRange(id);
      loop.trip.kind = Trip::Kind::Value;
      loop.trip.min = fewest;
      loop.trip.max = most;
    }
  }
  boundFormulas(bound);
  return findTileBounds(bound);
}

namespace {

/// Looks for one access whose guards hold in some run, in iterations that formulas allow.
class TouchFinder {
public:
  explicit TouchFinder(const Kernel &kernel) : kernel(kernel), tiles(kernel) {}

  bool run() {
    for (const Instr &instr : kernel.instrs) {
      for (AccessId access : instr.accesses) {
        if (touches(tiles[tiles.of(access)])) {
          return true;
        }
      }
    }
    return false;
  }

private:
  bool touches(const TileBox &tile) {
    if (neverRuns(kernel, tile.home)) {
      return false;
    }
    LeavingText text(kernel, tile, tiles.read(tile), std::nullopt);
    bool isCertain = tiles.parsed(tile).guards.empty() && !text.hasFormula();
    return isCertain || holds(text);
  }

  /// Each question is asked once, and only so many are.
  bool holds(const LeavingText &text) {
    if (text.numSplits() > mostSplits || asked.size() == mostOfTouching ||
        !asked.insert(text.touchingAtAll()).second) {
      return false;
    }
    context.startQuestion(maxOperations);
    bool isSeen = !context.parse(text.touchingAtAll()).isEmpty();
    return isSeen && !context.gaveUp();
  }

  const Kernel &kernel;
  TileBoxes tiles;
  IslContext context;
  std::unordered_set<std::string> asked; ///< those that were answered by no
};

} // namespace

bool isSeenToTouch(const Kernel &kernel) {
  return TouchFinder(kernel).run();
}

//===----------------------------------------------------------------------===//
// Telling
//===----------------------------------------------------------------------===//

namespace {

/// `'A', 'B'` of loops.
std::string quoted(const Kernel &kernel, const std::vector<LoopId> &loops) {
  auto name = [&](LoopId loop) { return fmt::format("'{}'", kernel.nameOf(loop)); };
  return fmt::format("{}", fmt::join(std::views::transform(loops, name), ", "));
}

/// Loops proper, without branches and the root, which stand for values that no trips follow from.
std::vector<LoopId> loopsAmong(const Kernel &kernel, const std::vector<LoopId> &bodies) {
  std::vector<LoopId> loops;
  std::ranges::copy_if(bodies, std::back_inserter(loops),
                       [&](LoopId body) { return kernel.loops[body].kind == LoopKind::Loop; });
  return loops;
}

/// Those values, if they have no `max`; and others.
std::vector<std::string> openValues(const Kernel &kernel, const TileBound &bound) {
  std::vector<std::string> names;
  for (const RunValue &value : kernel.values) {
    bool isNamed = std::ranges::count(bound.unbounded, value.loop) != 0;
    if (isNamed && !value.max && kernel.loops[value.loop].kind != LoopKind::Loop) {
      names.emplace_back(kernel.text(value.name));
    }
  }
  names.insert(names.end(), bound.values.begin(), bound.values.end());
  return names;
}

/// `'$n', '$m'` of run-time values.
std::string quoted(const std::vector<std::string> &values) {
  return values.empty() ? "" : fmt::format("'${}'", fmt::join(values, "', '$"));
}

/// What is said once for all tiles that are open for one reason.
class OpenTiles {
public:
  explicit OpenTiles(const Kernel &kernel) : kernel(kernel) {}

  void add(const TileBound &bound) {
    auto key = std::tuple(bound.unbounded, bound.values, bound.isCounted);
    auto [found, isNew] = groups.try_emplace(key);
    if (isNew) {
      order.push_back(key);
      found->second.first = &bound;
    }
    Group &group = found->second;
    ++group.count;
    if (bound.enoughMax && (!group.enoughMax || *bound.enoughMax < *group.enoughMax)) {
      group.enoughMax = bound.enoughMax;
    }
  }

  void report(Diagnostics &diagnostics) const {
    for (const Key &key : order) {
      const Group &group = groups.at(key);
      const OutsideRun &first = group.first->first;
      bool isTooHard = group.first->kind == TileBound::Kind::TooHard;
      std::string_view buffer =
          kernel.text(kernel.buffers[kernel.accesses[first.access].buffer].name);
      diagnostics.remark(
          kernel.instrs[first.instr].where,
          fmt::format("whether '{}' of '{}' stays within buffer '{}' {}{}{}; {}",
                      kernel.text(kernel.accesses[first.access].text), kernel.nameOf(first.instr),
                      buffer, isTooHard ? "was too hard to decide" : dependsOn(*group.first),
                      isTooHard ? "" : ": " + reachText(kernel, first), others(group.count - 1),
                      isTooHard ? tooHardText(group.first->isCounted) : wayOut(key, group)));
    }
  }

private:
  using Key = std::tuple<std::vector<LoopId>, std::vector<std::string>, bool>;

  struct Group {
    const TileBound *first = nullptr;
    size_t count = 0;
    std::optional<uint64_t> enoughMax;
  };

  std::string dependsOn(const TileBound &bound) const {
    const std::vector<LoopId> unbounded = loopsAmong(kernel, bound.unbounded);
    const std::vector<std::string> values = openValues(kernel, bound);
    std::string loops = unbounded.empty()
                            ? ""
                            : fmt::format("on how often {} run{}", quoted(kernel, unbounded),
                                          unbounded.size() == 1 ? "s" : "");
    return fmt::format("depends {}{}{}", loops, loops.empty() || values.empty() ? "" : " and ",
                       values.empty() ? "" : "on " + quoted(values));
  }

  static std::string others(size_t count) {
    return count == 0   ? ""
           : count == 1 ? ", as for 1 more access"
                        : fmt::format(", as for {} more accesses", count);
  }

  static std::string tooHardText(bool isCounted) {
    return isCounted ? "it counts entries of loops whose trips are tied, in more runs than can be "
                       "walked; a 'max' for fewer trips, a guard or a 'mod' shows it; until then "
                       "each run is checked"
                     : "simpler indices are decided; until then each run is checked";
  }

  std::string wayOut(const Key &key, const Group &group) const {
    const auto &loops = std::get<0>(key);
    const auto &values = std::get<1>(key);
    if (!values.empty()) {
      return fmt::format("nothing binds {}, so it is taken for granted; a 'mod', a guard or a "
                         "constant shows it, or a declaration with 'max'",
                         quoted(values));
    }
    std::string most = group.enoughMax ? fmt::format(" {}", *group.enoughMax) : "";
    auto hasNoMax = [&](LoopId loop) { // and may have none
      const Trip &trip = kernel.loops[loop].trip;
      bool isOther = trip.kind == Trip::Kind::Formula &&
                     (trip.max || aloneIn(kernel.tiles->formulaOf(loop).access).empty());
      return trip.kind == Trip::Kind::Guard || isOther;
    };
    if (loopsAmong(kernel, loops).size() < loops.size()) {
      return fmt::format("a declaration with 'max{}' shows it, as 'tally.value \"{}\" max {}', a "
                         "guard or a 'mod'; until then each run is checked",
                         most, openValues(kernel, *group.first).front(),
                         group.enoughMax ? std::to_string(*group.enoughMax) : "N");
    }
    if (std::any_of(loops.begin(), loops.end(), hasNoMax)) {
      return "a guard or a 'mod' shows it, or a loop with 'max' instead of 'while'; until then "
             "each run is checked";
    }
    return fmt::format("state 'max{}' for the trips of {}; until then each run is checked", most,
                       quoted(kernel, loops));
  }

  const Kernel &kernel;
  std::map<Key, Group> groups;
  std::vector<Key> order; ///< of the text
};

} // namespace

static void reportLeavingTiles(const Kernel &kernel, const std::vector<TileBound> &bounds,
                               Diagnostics &diagnostics) {
  for (const TileBound &bound : bounds) {
    if (bound.kind == TileBound::Kind::Leaves) {
      Diagnostic error = outsideError(kernel, bound.first);
      diagnostics.error(error.where, error.message).notes = error.notes;
    }
  }
}

void reportTileBounds(const Kernel &kernel, const std::vector<TileBound> &bounds,
                      Diagnostics &diagnostics) {
  reportLeavingTiles(kernel, bounds, diagnostics);
  OpenTiles open(kernel);
  for (const TileBound &bound : bounds) {
    if (bound.kind != TileBound::Kind::Leaves) {
      open.add(bound);
    }
  }
  open.report(diagnostics);
}

void checkAsRead(const Kernel &kernel, Diagnostics &diagnostics) {
  check(kernel, diagnostics);
  if (!diagnostics.hasErrors()) {
    reportLeavingTiles(kernel, findTileBounds(kernel), diagnostics);
  }
}

void checkTiles(const Kernel &kernel, Diagnostics &diagnostics) {
  reportTileBounds(kernel, findTileBounds(kernel), diagnostics);
}

std::vector<std::string> takenForGranted(const Kernel &kernel,
                                         const std::vector<TileBound> &bounds) {
  std::vector<std::string> all;
  for (Denied denied : findDenied(kernel)) {
    all.push_back(deniedText(kernel, denied));
  }
  auto stays = [&](InstrId instr, AccessId access, const std::string &when) {
    std::string text =
        fmt::format("'{}' of '{}' stays within its buffer{}",
                    kernel.text(kernel.accesses[access].text), kernel.nameOf(instr), when);
    if (std::find(all.begin(), all.end(), text) == all.end()) {
      all.push_back(std::move(text));
    }
  };
  for (const TileBound &bound : bounds) {
    const std::vector<LoopId> loops = loopsAmong(kernel, bound.unbounded);
    const std::vector<std::string> values = openValues(kernel, bound);
    std::string when =
        loops.empty() ? "" : fmt::format(", however often {} run", quoted(kernel, loops));
    when += when.empty() || loops.size() > 1 ? "" : "s";
    when += values.empty() ? "" : fmt::format(", whatever {} is", quoted(values));
    if (bound.kind != TileBound::Kind::Leaves) {
      stays(bound.first.instr, bound.first.access, when);
    }
  }
  for (InstrId instr : unstatedAccesses(kernel)) {
    all.push_back(fmt::format("'{}', which states no accesses, touches nothing that another "
                              "instruction touches",
                              kernel.nameOf(instr)));
  }
  return all;
}

std::string grantedText(const std::vector<std::string> &granted) {
  constexpr size_t mostTold = 5;
  std::string text;
  for (size_t i = 0; i < std::min(granted.size(), mostTold); ++i) {
    text += fmt::format("taken for granted: {}\n", granted[i]);
  }
  return granted.size() > mostTold ? text + fmt::format("taken for granted: {} more of that kind\n",
                                                        granted.size() - mostTold)
                                   : text;
}

} // namespace tally
