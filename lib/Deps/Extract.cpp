//===- Extract.cpp - Dependences from accesses ----------------------------===//
//
// Steps:  1. candidates  pairs of accesses whose boxes meet (Candidates.h)
//         2. distances   of each pair, from the view that is exact, or else the tightest
//                        (PairNest.h, Distances.h)
//         3. merge       for two instructions, what another distance of theirs implies is dropped;
//                        what no pair of their accesses needs by itself, all may need together
//
//===----------------------------------------------------------------------===//

#include "tally/Deps/Extract.h"

#include "Candidates.h"
#include "FewRuns.h"
#include "PairNest.h"
#include "PlainTiles.h"
#include "Shifted.h"

#include "tally/Model/RunNumbers.h"
#include "tally/Support/SortByNumber.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <numeric>
#include <span>

namespace tally {

using namespace deps;

namespace {

/// More are not looked at together, by isl or run by run.
constexpr size_t maxPairsTogether = 8;
constexpr size_t maxPairsRunByRun = 64;

bool areTooMany(size_t numPairs, const PairNest &nest) {
  return numPairs > (FewRuns::numPairs(nest) != 0 ? maxPairsRunByRun : maxPairsTogether);
}

/// What one pair of accesses gives, before it is known to matter.
struct Draft {
  Candidate ends;
  uint32_t distance = 0; ///< into Drafts; 0: in every iteration
  Excess excess = Excess::None;
  NeededFrom from;
  uint32_t fromRun = 0; ///< as in DerivedDep, like the next one
  RunTableId table = {};
};

/// How far back.
struct Distance {
  const Distances::One *example = nullptr; ///< kept by the finder
  int64_t step = 0;
  uint32_t firstComponent = 0;
  uint32_t numComponents = 0;
  DistanceForm form = DistanceForm::Vector;
  bool areRunsNumbered = false; ///< the last numbers of the example are runs of two nests
};

bool sameEnds(const Draft &a, const Draft &b) {
  return a.ends.producer == b.ends.producer && a.ends.consumer == b.ends.consumer;
}

bool samePair(const Draft &a, const Draft &b) {
  return a.ends.producerAccess == b.ends.producerAccess &&
         a.ends.consumerAccess == b.ends.consumerAccess;
}

/// Though all is known of the tiles.
bool isTooLong(const Draft &draft) {
  return draft.excess == Excess::Varies || draft.excess == Excess::Guarded;
}

/// All drafts, with their components, and which of them say the same or more.
class Drafts {
public:
  explicit Drafts(const Kernel &kernel) : kernel(kernel), distances(1) {}

  size_t size() const { return drafts.size(); }

  Draft &operator[](size_t i) { return drafts[i]; }

  const Draft &operator[](size_t i) const { return drafts[i]; }

  auto begin() const { return drafts.begin(); }

  auto end() const { return drafts.end(); }

  void add(const Draft &draft) { drafts.push_back(draft); }

  const Distance &distanceOf(const Draft &draft) const { return distances[draft.distance]; }

  void addFlat(const Draft &draft, const Distances &found) {
    for (const Distances::One &one : found.list) {
      Distance distance{.example = &one, .step = one.components[0]};
      distance.form = distance.step == 0 ? DistanceForm::Vector : DistanceForm::Flat;
      add(draft, distance);
    }
  }

  /// Components past the levels are those of two nests side by side, run by run.
  void addVectors(const Draft &draft, const Distances &found, const PairPlace &place) {
    for (const Distances::One &one : found.list) {
      Distance distance{.example = &one,
                        .firstComponent = static_cast<uint32_t>(components.size())};
      for (size_t i = 0; i < one.components.size(); ++i) {
        int64_t back = one.components[i];
        if (i == place.levels.size()) {
          bool isWhole = back <= wholeOfNest(place); // wholeLevel is smaller still
          distance.areRunsNumbered = true;
          distance.form = isWhole ? DistanceForm::Vector : DistanceForm::Element;
          distance.step = isWhole ? 0 : back;
        } else if (back == wholeLevel) {
          addWholeLevel(place.levels[i]); // and so on for those inside it
        } else if (back != 0) {
          components.push_back({place.levels[i], back});
        }
      }
      distance.numComponents = static_cast<uint32_t>(components.size()) - distance.firstComponent;
      add(draft, distance);
    }
  }

  /// Gives a draft another distance, on a loop or in runs.
  void replace(Draft &draft, DistanceForm form, int64_t back, LoopId loop,
               const Distances::One *example) {
    Distance distance{.example = example,
                      .firstComponent = static_cast<uint32_t>(components.size()),
                      .form = form};
    distance.step = form == DistanceForm::Flat ? back : 0;
    distance.numComponents = form == DistanceForm::Vector && back != 0 ? 1 : 0;
    if (distance.numComponents != 0) {
      components.push_back({loop, back});
    }
    draft.distance = static_cast<uint32_t>(distances.size());
    distances.push_back(distance);
  }

  std::span<const DistanceComponent> componentsOf(const Distance &distance) const {
    return {components.data() + distance.firstComponent, distance.numComponents};
  }

  /// By consumer, then producer; those of one pair in the order in which they were found.
  std::vector<uint32_t> sorted() const {
    std::vector<uint32_t> order(drafts.size());
    std::iota(order.begin(), order.end(), 0);
    sortByNumber(
        order, kernel.instrs.size(), [&](uint32_t i) { return drafts[i].ends.consumer.value; },
        [&](uint32_t a, uint32_t b) {
          return std::pair(drafts[a].ends.producer, a) < std::pair(drafts[b].ends.producer, b);
        });
    return order;
  }

  /// Of two that imply each other the exact one stays, or the first.
  bool replaces(uint32_t j, uint32_t i) const {
    auto rank = [&](uint32_t k) { return std::pair(drafts[k].excess != Excess::None, k); };
    const Distance &a = distanceOf(drafts[j]), &b = distanceOf(drafts[i]);
    return implies(a, b) && (!implies(b, a) || rank(j) < rank(i));
  }

  /// Whether one of these has the distance of one of others.
  bool isSame(const Distance &own, const Drafts &others, const Distance &other) const {
    return own.form == other.form && own.step == other.step &&
           std::ranges::equal(componentsOf(own), others.componentsOf(other));
  }

private:
  void add(Draft draft, const Distance &distance) {
    draft.distance = static_cast<uint32_t>(distances.size());
    distances.push_back(distance);
    drafts.push_back(draft);
  }

  /// All iterations of a loop: no two are farther apart.
  int64_t wholeOf(LoopId loop) const {
    uint64_t most = kernel.loops[loop].trip.most().value_or(maxCount);
    return 1 - static_cast<int64_t>(std::max<uint64_t>(most, 1));
  }

  /// The same for the runs of a producer in its nest, beside that of the consumer.
  int64_t wholeOfNest(const PairPlace &place) const {
    RunNumbers numbers = *RunNumbers::below(kernel, place.shared, place.producerHome);
    return 1 - static_cast<int64_t>(numbers.most(kernel).value_or(maxCount));
  }

  void addWholeLevel(LoopId loop) {
    if (int64_t whole = wholeOf(loop); whole != 0) {
      components.push_back({loop, whole});
    }
  }

  /// Whether whoever waits at a's distance has waited at b's: a's runs of the producer are no
  /// earlier, and a has no wait left out (for lack of iterations behind it) that b has.
  bool implies(const Distance &a, const Distance &b) const {
    bool isZero = a.form == DistanceForm::Vector && a.numComponents == 0;
    if (isZero) {
      return true;
    }
    if (a.form == DistanceForm::Flat && a.step == 1) {
      return b.form != DistanceForm::Vector || b.numComponents != 0; // every earlier run
    }
    if (a.form != b.form) {
      return false;
    }
    switch (a.form) {
    case DistanceForm::Flat:
      return a.step <= b.step;
    case DistanceForm::Element:
      return std::ranges::equal(componentsOf(a), componentsOf(b)) && a.step <= b.step;
    case DistanceForm::Vector:
      return vectorImplies(componentsOf(a), componentsOf(b));
    }
    return false;
  }

  const Kernel &kernel;
  std::vector<Draft> drafts;
  std::vector<Distance> distances;
  std::vector<DistanceComponent> components;
};

/// One kernel.
class Extracting {
public:
  Extracting(const Kernel &kernel, const ExtractOptions &options, DistanceFinder &finder)
      : kernel(kernel), options(options), finder(finder), tiles(kernel), drafts(kernel) {}

  Extraction run() {
    forCandidates(kernel, tiles, [&](const Candidate &candidate) {
      if (needsWait(candidate)) {
        derive(candidate);
      }
    });
    merge();
    return std::move(result);
  }

  /// Of two instructions alone, each pair of accesses by itself.
  Extraction runBetween(InstrId producer, InstrId consumer) {
    for (AccessId p : kernel.instrs[producer].accesses) {
      for (AccessId c : kernel.instrs[consumer].accesses) {
        Candidate candidate{producer, consumer, p, c};
        if (mayConflict(candidate) && needsWait(candidate)) {
          derive(candidate);
        }
      }
    }
    for (const Draft &draft : drafts) {
      emit(draft);
    }
    return std::move(result);
  }

private:
  /// Of memory that may be the same, one of them writes, and a run of the producer may come first.
  bool mayConflict(const Candidate &candidate) const {
    const TileBox &producer = tiles[tiles.of(candidate.producerAccess)];
    const TileBox &consumer = tiles[tiles.of(candidate.consumerAccess)];
    bool writes = kindOf(candidate.producerAccess) != AccessKind::Read ||
                  kindOf(candidate.consumerAccess) != AccessKind::Read;
    LoopId common = kernel.commonLoop(producer.home, consumer.home);
    bool isInOrder = candidate.producer < candidate.consumer || kernel.realLoop(common) != rootLoop;
    return writes && isInOrder &&
           tiles.groupOf(producer.buffer) == tiles.groupOf(consumer.buffer) &&
           tiles.boxesMeet(producer, consumer);
  }

  AccessKind kindOf(AccessId access) const { return kernel.accesses[access].kind; }

  /// Whether the order of the two is not given by their queue.
  bool needsWait(const Candidate &candidate) const {
    if (kernel.instrs[candidate.producer].queue != kernel.instrs[candidate.consumer].queue) {
      return true;
    }
    bool bothAdd = kindOf(candidate.producerAccess) == AccessKind::Accumulate &&
                   kindOf(candidate.consumerAccess) == AccessKind::Accumulate;
    const Queue &queue = kernel.queues[kernel.instrs[candidate.producer].queue];
    return options.queueOverlap && !(bothAdd && queue.addsInOrder);
  }

  DepKind dependenceKind(const Candidate &candidate) const {
    if (kindOf(candidate.producerAccess) == AccessKind::Read) {
      return DepKind::WAR;
    }
    return kindOf(candidate.consumerAccess) == AccessKind::Write ? DepKind::WAW : DepKind::RAW;
  }

  //===--- 2. Distances ---------------------------------------------------===//

  void derive(const Candidate &candidate) {
    const Draft draft{.ends = candidate, .from = {}};
    const TileBox &producer = tiles[tiles.of(candidate.producerAccess)];
    const TileBox &consumer = tiles[tiles.of(candidate.consumerAccess)];
    bool isSure = producer.buffer == consumer.buffer
                      ? producer.isFixed && consumer.isFixed
                      : producer.isSolid && consumer.isSolid &&
                            tiles.sharing(producer, consumer) == InCommon::Known;
    hasGuards = !tiles.parsed(producer).guards.empty() || !tiles.parsed(consumer).guards.empty();
    bool isInOneBody = producer.home == consumer.home && candidate.producer < candidate.consumer;
    if (isSure && isInOneBody && !hasGuards) {
      drafts.add(draft); // they meet in every iteration
      return;
    }
    TilePair pair = tilePair(candidate);
    if (std::optional<PairNest> flat = flatView(pair)) {
      const Distances &found = finder.find(*flat);
      return drafts.addFlat(judged(draft, found), found);
    }
    const PairPlace &place = pair.place;
    const Distances &vector = finder.find(vectorView({&pair, 1}));
    if (vector.list.empty()) {
      return;
    }
    bool isOneRun = place.producerHome == place.shared; // see fromRunOf()
    if (vector.excess != Excess::None && !isOneRun) {
      if (std::optional<PairNest> element = elementView({&pair, 1})) {
        const Distances &found = finder.find(*element);
        bool isOneNumber = found.excess == Excess::None || !isOneOfManyEnds(place);
        if (found.excess != Excess::Undecided && isOneNumber) {
          return drafts.addVectors(judged(draft, found), found, place);
        }
      }
    }
    Draft whole = judged(draft, vector);
    LoopId common = kernel.commonLoop(producer.home, consumer.home);
    bool pairsLoops = place.levels.size() != kernel.realLoops(common).size();
    whole.from = pairsLoops ? NeededFrom() : vector.from;
    drafts.addVectors(whole, vector, place);
  }

  /// Whether one run of the consumer follows loops of the producer that do not always end alike:
  /// what it needs there depends on where they end, and the number of one run would say little.
  bool isOneOfManyEnds(const PairPlace &place) const {
    return kernel.realLoops(place.consumerHome, place.shared).empty() &&
           std::ranges::any_of(
               kernel.realLoops(place.producerHome, place.shared), [&](LoopId loop) {
                 return kernel.loops[loop].trip.least() != kernel.loops[loop].trip.most();
               });
  }

  TilePair tilePair(const Candidate &ends) {
    const TileBox &producer = tiles[tiles.of(ends.producerAccess)];
    const TileBox &consumer = tiles[tiles.of(ends.consumerAccess)];
    return {kernel,
            tiles,
            placeOfBodies(kernel, producer.home, consumer.home),
            producer,
            consumer,
            ends.producer < ends.consumer,
            kernel.engineOf(ends.producer) == kernel.engineOf(ends.consumer)};
  }

  /// Of the pair at hand.
  Draft judged(Draft draft, const Distances &distances) const {
    bool isGuarded = hasGuards && distances.excess == Excess::Varies;
    draft.excess = isGuarded ? Excess::Guarded : distances.excess;
    return draft;
  }

  //===--- 3. Merge -------------------------------------------------------===//

  void merge() {
    const std::vector<uint32_t> order = drafts.sorted();
    result.deps.reserve(order.size());
    for (size_t first = 0; first < order.size();) {
      size_t end = first;
      while (end < order.size() && sameEnds(drafts[order[first]], drafts[order[end]])) {
        ++end;
      }
      mergeEnds({order.data() + first, end - first});
      first = end;
    }
  }

  void mergeEnds(std::span<const uint32_t> group) {
    std::vector<uint32_t> kept;
    for (uint32_t i : group) {
      if (std::ranges::none_of(group,
                               [&](uint32_t j) { return j != i && drafts.replaces(j, i); })) {
        kept.push_back(i);
      }
    }
    judgeTogether(group, kept);
    NeededFrom from = drafts[group[0]].from; // what is not kept may need an earlier iteration
    for (uint32_t i : group) {
      from = from.with(drafts[i].from);
    }
    for (uint32_t i : kept) {
      drafts[i].from = isTooLong(drafts[i]) ? from : NeededFrom();
      drafts[i].fromRun = isTooLong(drafts[i]) ? fromRunOf(group, i) : 0;
      if (isTooLong(drafts[i])) {
        takeTable(drafts[i], tableOf(group, kept, i));
      }
    }
    if (std::optional<Draft> draft = overLoop(group, kept)) {
      emit(*draft);
      return;
    }
    for (uint32_t i : kept) {
      emit(drafts[i]);
    }
  }

  /// One that is a distance shows that only others, which are kept, wait for too much.
  void takeTable(Draft &draft, const TableAnswer &table) {
    if (table && table->runs.size() == 1 && table->each == 1) {
      draft.excess = Excess::None;
    } else if (table) {
      draft.table = result.tables.push(*table);
    }
  }

  /// Which runs are needed, where a table tells that of all pairs of accesses of the two together,
  /// and all else that they need is kept.
  TableAnswer tableOf(std::span<const uint32_t> group, std::span<const uint32_t> kept, uint32_t i) {
    std::vector<TilePair> pairs = pairsOf(group);
    if (!isAllKnown(group) || pairs.empty() || pairs.size() > maxPairsRunByRun) {
      return {};
    }
    std::optional<PairNest> nest = tableView(pairs, drafts.distanceOf(drafts[i]));
    bool isFew = nest && !areTooMany(pairs.size(), *nest);
    const Distances *found = isFew ? &finder.find(*nest) : nullptr;
    if (!found || found->excess != Excess::Varies || found->list.empty()) {
      return {};
    }
    Drafts together(kernel);
    together.addVectors({}, *found, pairs[0].place);
    auto isOneOf = [&](size_t number, uint32_t j) {
      return together.isSame(together.distanceOf(together[number]), drafts,
                             drafts.distanceOf(drafts[j]));
    };
    size_t own = 0;
    while (own < together.size() && !isOneOf(own, i)) {
      ++own;
    }
    bool areRestKept = own < together.size();
    for (size_t number = 0; number < together.size() && areRestKept; ++number) {
      areRestKept = number == own || std::ranges::any_of(kept, [&](uint32_t j) {
                      return j != i && isOneOf(number, j);
                    });
    }
    if (!areRestKept) {
      return {};
    }
    const TableAnswer &table = finder.tableOf(*nest, own);
    return table;
  }

  /// What stands for all distances of the two, where some would be too long: a table over a loop
  /// around both.
  std::optional<Draft> overLoop(std::span<const uint32_t> group, std::span<const uint32_t> kept) {
    auto isLong = [&](uint32_t i) {
      bool isShorter = drafts[i].table.valid() || drafts[i].fromRun != 0;
      return isUndecided(drafts[i]) || (isTooLong(drafts[i]) && !isShorter);
    };
    std::vector<TilePair> pairs;
    if (std::ranges::any_of(kept, isLong) && isAllKnown(group, isUndecided)) {
      pairs = pairsOf(group, isUndecided);
    }
    if (pairs.empty() || pairs.size() > maxPairsRunByRun) {
      return std::nullopt;
    }
    const PairPlace &place = pairs[0].place;
    bool isOneLoop = place.producerHome == place.consumerHome;
    LoopId loop = isOneLoop ? kernel.loops[place.shared].parent : place.shared;
    for (bool areFew : {true, false}) { // first what can be answered soon
      for (LoopId over = loop; over != rootLoop && over.valid(); over = kernel.loops[over].parent) {
        std::optional<PairNest> nest = elementView(pairs, over);
        if (!nest || areTooMany(pairs.size(), *nest) || (FewRuns::numPairs(*nest) != 0) != areFew) {
          continue;
        }
        if (std::optional<RunTable> table = tableOver(*nest, over)) {
          return atLeast(*std::move(table), drafts[kept[0]], pairs[0]);
        }
      }
    }
    return std::nullopt;
  }

  /// If no iteration of the loop needs runs of the one before it.
  std::optional<RunTable> tableOver(const PairNest &nest, LoopId over) {
    const Distances &found = finder.find(nest);
    if (found.list.size() != 1) {
      return std::nullopt;
    }
    std::span<const int64_t> distance = found.list[0].components;
    bool isInside = std::ranges::all_of(distance.first(distance.size() - 1),
                                        [](int64_t on) { return on == 0; });
    if (!isInside) {
      return std::nullopt;
    }
    auto fits = [&](const std::optional<RunTable> &table) {
      return table && iterationsBack(*table, nest) >= (nest.turn->isOrdered ? 0 : 1);
    };
    std::optional<RunTable> table;
    if (found.excess == Excess::None && distance.back() != wholeLevel) {
      table = RunTable{{-distance.back()}, 1};
    }
    // In few runs, one distance may do that would soon lead to runs that are still to come.
    bool mayVary = found.excess == Excess::None || found.excess == Excess::Varies;
    if (mayVary && !fits(table)) {
      table = finder.tableOf(nest, 0);
    }
    if (!fits(table)) {
      return std::nullopt;
    }
    table->over = over;
    return table;
  }

  static int64_t iterationsBack(const RunTable &table, const PairNest &nest) {
    return table.iterationsBack(nest.turn->producerRuns, nest.turn->consumerRuns);
  }

  /// The table, with a distance that asks for all it asks for, and for no less; if there is none,
  /// the table is all there is.
  Draft atLeast(RunTable table, Draft draft, const TilePair &pair) {
    const PairPlace &place = pair.place;
    PairNest nest = *elementView({&pair, 1}, table.over);
    int64_t back = iterationsBack(table, nest);
    bool isOneLoop = place.producerHome == place.consumerHome;
    bool isCounted = isOneLoop || table.over == place.shared;
    draft.excess = Excess::Varies;
    draft.from = NeededFrom();
    draft.fromRun = 0;
    DistanceForm form = isOneLoop && back != 0 ? DistanceForm::Flat : DistanceForm::Vector;
    if (!isCounted) {
      back = 0;
      form = pair.producerIsBefore ? DistanceForm::Vector : DistanceForm::Element;
      draft.excess = pair.producerIsBefore ? Excess::Varies : Excess::None;
    }
    drafts.replace(draft, form, back, place.shared, exampleOf(table, pair, form, back));
    draft.table = result.tables.push(std::move(table));
    return draft;
  }

  /// Two runs that conflict, the first ones at this distance; none if there are none.
  const Distances::One *exampleOf(const RunTable &table, const TilePair &pair, DistanceForm form,
                                  int64_t back) {
    const PairPlace &place = pair.place;
    const LoopId outer = kernel.loops[table.over].parent;
    const SideBySide nests = *sideBySide(kernel, outer, place.producerHome, place.consumerHome);
    auto iterationOf = [&](const RunNumbers &nest, int64_t run) {
      return run / static_cast<int64_t>(nest.runsPerIterationOf(place.shared));
    };
    constexpr uint64_t mostRuns = 4 * mostTableRuns * mostTableRuns;
    auto end =
        static_cast<int64_t>(std::min(nests.consumer.most(kernel).value_or(mostRuns), mostRuns));
    Distances::One &one = examples.emplace_back();
    for (int64_t run = 0, before = -1; run < end; before = std::max(table.at(run++), before)) {
      int64_t needed = table.at(run);
      bool isAtDistance =
          form == DistanceForm::Element ||
          iterationOf(nests.consumer, run) - iterationOf(nests.producer, needed) == back;
      if (needed > before && isAtDistance) {
        bool isFlat = form == DistanceForm::Flat; // shown as numbers
        size_t levels = isFlat ? 0 : kernel.realLoops(outer).size();
        one.producer.resize(levels);
        one.consumer.resize(levels);
        one.producer.push_back(needed);
        one.consumer.push_back(run);
        one.producer = isFlat ? one.producer : byIterations(one.producer, nests.producer);
        one.consumer = isFlat ? one.consumer : byIterations(one.consumer, nests.consumer);
        break;
      }
    }
    return &one;
  }

  /// Two nests, run by run; or two in one loop, at a distance on that alone.
  std::optional<PairNest> tableView(std::span<const TilePair> pairs, const Distance &distance) {
    const PairPlace &place = pairs[0].place;
    if (distance.areRunsNumbered) {
      bool areLoops = place.producerHome != place.shared && place.consumerHome != place.shared;
      return areLoops ? elementView(pairs) : std::nullopt;
    }
    LoopId home = place.producerHome;
    bool isOneLoop = home == place.consumerHome && kernel.loops[home].kind == LoopKind::Loop &&
                     distance.form == DistanceForm::Vector &&
                     std::ranges::all_of(drafts.componentsOf(distance), [&](const auto &c) {
                       return c.loop == home && c.distance > 0;
                     });
    return isOneLoop ? std::optional(vectorView(pairs)) : std::nullopt;
  }

  /// The run of the consumer's nest from which on the one run of the producer is needed, if that
  /// says all; else 0.
  uint32_t fromRunOf(std::span<const uint32_t> group, uint32_t kept) {
    std::vector<TilePair> pairs = pairsOf(group);
    bool areMany = pairs.empty() || pairs.size() > maxPairsRunByRun;
    if (!isAllKnown(group) || areMany || pairs[0].place.producerHome != pairs[0].place.shared) {
      return 0;
    }
    std::optional<PairNest> element = elementView(pairs);
    bool isFew = element && !areTooMany(pairs.size(), *element);
    const Distances *found = isFew ? &finder.find(*element) : nullptr;
    if (!found || found->excess != Excess::None || found->list.size() != 1) {
      return 0;
    }
    Drafts exact(kernel);
    exact.addVectors({}, *found, pairs[0].place);
    const Distance &distance = exact.distanceOf(exact[0]);
    bool isSame = std::ranges::equal(exact.componentsOf(distance),
                                     drafts.componentsOf(drafts.distanceOf(drafts[kept])));
    return isSame ? static_cast<uint32_t>(std::max<int64_t>(distance.step, 0)) : 0;
  }

  using Also = bool (*)(const Draft &);

  static bool isNone(const Draft &) { return false; }

  /// As one question, and perhaps not as another.
  static bool isUndecided(const Draft &draft) { return draft.excess == Excess::Undecided; }

  /// Or is one of those that may also be among them.
  static bool isKnown(const Draft &draft, Also isAlso) {
    return isTooLong(draft) || draft.excess == Excess::None || isAlso(draft);
  }

  bool isAllKnown(std::span<const uint32_t> group, Also isAlso = isNone) const {
    return std::ranges::all_of(group, [&](uint32_t i) { return isKnown(drafts[i], isAlso); });
  }

  /// A sum is started by one access and added to by another: a wait for it is exact, but for
  /// neither of them.
  void judgeTogether(std::span<const uint32_t> group, std::span<const uint32_t> kept) {
    if (std::none_of(kept.begin(), kept.end(), [&](uint32_t i) { return isTooLong(drafts[i]); })) {
      return;
    }
    std::vector<TilePair> pairs = pairsOf(group);
    if (pairs.size() < 2 || pairs.size() > maxPairsRunByRun) {
      return;
    }
    for (const std::optional<PairNest> &nest :
         {std::optional(vectorView(pairs)), elementView(pairs)}) {
      if (nest && !areTooMany(pairs.size(), *nest)) {
        markExact(kept, finder.find(*nest), pairs[0].place);
      }
    }
  }

  /// All of which all is known.
  std::vector<TilePair> pairsOf(std::span<const uint32_t> group, Also isAlso = isNone) {
    std::vector<TilePair> pairs;
    for (uint32_t i : group) {
      const Draft &draft = drafts[i];
      bool isNew = i == group[0] || !samePair(draft, drafts[i - 1]);
      if (isNew && isKnown(draft, isAlso)) {
        pairs.push_back(tilePair(draft.ends));
      }
    }
    return pairs;
  }

  /// Those that are among the distances, if these are exact.
  void markExact(std::span<const uint32_t> kept, const Distances &distances,
                 const PairPlace &place) {
    if (distances.excess != Excess::None) {
      return;
    }
    Drafts exact(kernel);
    exact.addVectors({}, distances, place);
    for (uint32_t i : kept) {
      bool isFound = std::ranges::any_of(exact, [&](const Draft &each) {
        return exact.isSame(exact.distanceOf(each), drafts, drafts.distanceOf(drafts[i]));
      });
      if (isFound && isTooLong(drafts[i])) {
        drafts[i].excess = Excess::None;
      }
    }
  }

  void emit(const Draft &draft) {
    const Candidate &ends = draft.ends;
    const Distance &distance = drafts.distanceOf(draft);
    std::span<const DistanceComponent> own = drafts.componentsOf(distance);
    DerivedDep derived;
    derived.dep = {.producer = ends.producer,
                   .consumer = ends.consumer,
                   .kind = dependenceKind(ends),
                   .form = distance.form,
                   .firstComponent = static_cast<uint32_t>(result.components.size()),
                   .numComponents = distance.numComponents,
                   .where = kernel.instrs[ends.consumer].where,
                   .step = distance.step};
    derived.producerAccess = ends.producerAccess;
    derived.consumerAccess = ends.consumerAccess;
    derived.excess = draft.excess;
    derived.from = draft.from;
    derived.fromRun = draft.fromRun;
    bool isTableAll = distance.form == DistanceForm::Element && draft.excess == Excess::None;
    derived.table = isTableAll ? RunTableId() : draft.table;
    derived.isTableAlone = draft.table.valid() &&
                           (result.tables[draft.table].over.valid() ||
                            kernel.instrs[ends.producer].home == kernel.instrs[ends.consumer].home);
    result.components.insert(result.components.end(), own.begin(), own.end());
    addExample(derived, distance);
    derived.dep.table = isTableAll ? draft.table : RunTableId();
    result.deps.push_back(derived);
  }

  /// Without one, the two meet in every iteration, and so in the first.
  void addExample(DerivedDep &derived, const Distance &distance) {
    LoopId producer = kernel.instrs[derived.dep.producer].home;
    LoopId consumer = kernel.instrs[derived.dep.consumer].home;
    Distances::One first;
    const Distances::One *example = distance.example ? distance.example : &first;
    if (!distance.example) {
      first.producer.resize(kernel.realLoops(producer).size());
      first.consumer.resize(kernel.realLoops(consumer).size());
    } else if (distance.areRunsNumbered) {
      std::optional<SideBySide> nests = sideBySide(kernel, derived.dep);
      first.producer = byIterations(example->producer, nests->producer);
      first.consumer = byIterations(example->consumer, nests->consumer);
      example = &first;
    }
    derived.firstIteration = static_cast<uint32_t>(result.iterations.size());
    derived.numProducerIterations = static_cast<uint16_t>(example->producer.size());
    derived.numConsumerIterations = static_cast<uint16_t>(example->consumer.size());
    for (const std::vector<int64_t> *side : {&example->producer, &example->consumer}) {
      result.iterations.insert(result.iterations.end(), side->begin(), side->end());
    }
  }

  /// The last of the numbers is that of a run in a nest.
  static std::vector<int64_t> byIterations(std::vector<int64_t> side, const RunNumbers &numbers) {
    int64_t run = side.back();
    side.pop_back();
    for (size_t level = 0; level < numbers.loops().size(); ++level) {
      side.push_back(numbers.iterationOf(run, level));
    }
    return side;
  }

  const Kernel &kernel;
  const ExtractOptions &options;
  DistanceFinder &finder;
  TileBoxes tiles;
  bool hasGuards = false; ///< one of the pair at hand
  Drafts drafts;
  std::deque<Distances::One> examples; ///< that the finder has not made
  Extraction result;
};

} // namespace

struct Extractor::Impl {
  DistanceFinder finder;
};

Extractor::Extractor() : impl(std::make_unique<Impl>()) {}

Extractor::~Extractor() = default;

/// Tiles that all move in their own way ask one question for each pair, a millisecond or two each;
/// real kernels repeat a few. So time stays bounded, however large the kernel is.
static size_t mostQuestions(const Kernel &kernel, const ExtractOptions &options) {
  constexpr size_t mostOfAny = 8192;
  return options.mostQuestions.value_or(std::min(2048 + 8 * kernel.instrs.size(), mostOfAny));
}

Extraction Extractor::extract(const Kernel &kernel, const ExtractOptions &options) {
  impl->finder.startKernel(mostQuestions(kernel, options));
  std::optional<Kernel> plain = withPlainTiles(kernel);
  return Extracting(plain ? *plain : kernel, options, impl->finder).run();
}

Extraction Extractor::extractBetween(const Kernel &kernel, const ExtractOptions &options,
                                     InstrId producer, InstrId consumer) {
  impl->finder.startKernel(mostQuestions(kernel, options));
  std::optional<Kernel> plain = withPlainTiles(kernel);
  return Extracting(plain ? *plain : kernel, options, impl->finder).runBetween(producer, consumer);
}

size_t Extractor::numUndecided() const {
  return impl->finder.numUndecided();
}

Kernel withDeps(const Kernel &kernel, const Extraction &extraction) {
  Kernel result = kernel;
  result.components = extraction.components;
  result.tables = extraction.tables;
  result.deps = {};
  result.deps.reserve(extraction.deps.size());
  for (const DerivedDep &derived : extraction.deps) {
    if (!derived.isImplied()) {
      result.deps.push(derived.dep);
    }
  }
  return result;
}

bool asksForDeps(const Kernel &kernel) {
  return kernel.deps.empty() && !kernel.accesses.empty();
}

} // namespace tally
