//===- Encounter.cpp - Whether two accesses ever touch the same -----------===//

#include "tally/Deps/Encounter.h"

#include "NestText.h"
#include "PairNest.h"

#include <fmt/format.h>

namespace tally {

using namespace deps;

/// What one question may take, in isl's operations, and how many are asked of one kernel.
static constexpr uint64_t maxOperations = 250'000;
static constexpr uint32_t mostQuestions = 4'000;

struct EncounterFinder::Impl {
  Impl(const Kernel &kernel, int64_t mostTrips)
      : kernel(kernel), mostTrips(mostTrips), tiles(kernel) {}

  bool mayMeet(Party first, Party second) const {
    return !first.access.valid() ||
           tiles.boxesMeet(tiles[tiles.of(first.access)], tiles[tiles.of(second.access)]);
  }

  Answer find(Party first, Party second, Encounter &place) {
    if (!first.access.valid()) {
      return findRuns(first.instr, second.instr, place);
    }
    const TileBox &a = tiles[tiles.of(first.access)], &b = tiles[tiles.of(second.access)];
    if (!tiles.boxesMeet(a, b)) {
      return Answer::Never;
    }
    if (++numQuestions > mostQuestions) {
      return Answer::Open;
    }
    PairPlace bodies = placeOfBodies(kernel, a.home, b.home);
    TilePair pair{kernel,
                  tiles,
                  bodies,
                  a,
                  b,
                  first.instr < second.instr,
                  kernel.engineOf(first.instr) == kernel.engineOf(second.instr)};
    NestNames names;
    PairNest nest = vectorView({&pair, 1}, &names);
    addCounts(pair, names.counted, nest);
    context.startQuestion(maxOperations);
    bool isNever = context.parse(NestText(nest).conflicts()).isEmpty();
    if (context.gaveUp() || isNever) {
      return isNever && !context.gaveUp() ? Answer::Never : Answer::Open;
    }
    return findNear(nest) ? (place = placeOf(pair, nest, names), Answer::Found) : Answer::Open;
  }

  /// The first iterations of all that is around; but the second of the innermost loop around both
  /// that has one, if the text has the second of them first.
  Answer findRuns(InstrId first, InstrId second, Encounter &place) const {
    std::array<LoopId, 2> homes = {kernel.instrs[first].home, kernel.instrs[second].home};
    PairPlace bodies = placeOfBodies(kernel, homes[0], homes[1]);
    place = {};
    for (size_t side : {0, 1}) {
      for (LoopId loop : kernel.realLoops(homes[side])) {
        place.at[side][loop] = {0, Encounter::any, Encounter::any};
        if (kernel.loops[loop].trip.most() == 0) {
          return Answer::Never;
        }
      }
    }
    auto repeats = [&](LoopId loop) { return kernel.loops[loop].trip.most().value_or(2) > 1; };
    bool isEither = bodies.branch.valid() && (kernel.engineOf(first) == kernel.engineOf(second) ||
                                              kernel.loops[bodies.branch].uniform);
    if (first < second && !isEither) {
      return Answer::Found;
    }
    auto carrier = std::find_if(bodies.levels.rbegin(), bodies.levels.rend(), repeats);
    if (carrier == bodies.levels.rend()) {
      return Answer::Never;
    }
    place.at[1][*carrier].iteration = 1;
    return Answer::Found;
  }

  /// A body is entered no more often than loops around it may run; and a loop whose trips are named
  /// has all of them behind it when it is entered again.
  void addCounts(const TilePair &pair, const std::vector<CountedBody> &counted,
                 PairNest &nest) const {
    Conditions all;
    for (size_t i = 0; i < counted.size(); ++i) {
      for (bool atProducer : {true, false}) {
        bool isUsed = nest.counters[i].isShared || counted[i].atProducer == atProducer;
        std::string most = isUsed ? mostEntries(pair, counted[i].body, atProducer) : "";
        if (!most.empty()) {
          all.add("{}{} <= {}", atProducer ? 's' : 't', i, most);
        }
      }
    }
    for (const Length &length : nest.lengths) {
      for (size_t i = 0; i < counted.size() && length.atProducer && !length.isOwn; ++i) {
        if (counted[i].body == pair.place.levels[length.loop] && nest.counters[i].isShared) {
          std::string since = fmt::format("t{0} - c{1} - s{0} + (c{1} - d{1}) - n{2}", i,
                                          length.loop, &length - nest.lengths.data());
          std::string most = mostSince(pair, length.loop);
          all.add("({0} or ({1} >= 0{2}{3}))", sameEntry(length.loop), since,
                  most.empty() ? "" : fmt::format(" and {} <= ", since), most);
        }
      }
    }
    nest.overlap += fmt::format("{}({})", nest.overlap.empty() ? "" : " and ", all.text());
  }

  /// Entries of a level in between, if neither is in them; empty: nobody knows.
  std::string mostSince(const TilePair &pair, size_t level) const {
    std::string entries = "0";
    for (size_t i = 0; i <= level; ++i) {
      std::optional<uint64_t> trips = kernel.loops[pair.place.levels[i]].trip.most();
      if (i > 0 && !trips) {
        return "";
      }
      entries = i == level ? fmt::format("{} * ({} - 1)", trips.value_or(0), entries)
                           : fmt::format("{} * ({}) + d{}", i > 0 ? *trips : 0, entries, i);
    }
    return entries;
  }

  /// Both are in one entry of a level.
  static std::string sameEntry(size_t level) {
    Conditions all;
    for (size_t i = 0; i < level; ++i) {
      all.add("d{} = 0", i);
    }
    return fmt::format("({})", all.text());
  }

  /// Before the iterations where one side is; empty: nobody knows.
  std::string mostEntries(const TilePair &pair, LoopId body, bool atProducer) const {
    std::string most = "0";
    size_t level = 0, own = 0;
    for (LoopId loop : kernel.realLoops(body)) {
      std::optional<uint64_t> trips = kernel.loops[loop].trip.most();
      if (level + own > 0 && !trips) {
        return "";
      }
      std::string at = level == pair.place.levels.size()
                           ? fmt::format("{}{}", atProducer ? 'u' : 'w', own++)
                       : atProducer ? fmt::format("c{0} - d{0}", level)
                                    : fmt::format("c{}", level);
      level += own == 0 ? 1 : 0;
      most = most == "0" ? at : fmt::format("{} * ({}) + {}", *trips, most, at);
    }
    return most;
  }

  /// With loops that run equally often at each entry, if that is enough.
  bool findNear(const PairNest &nest) {
    return findNear(nest, uniformText(nest)) || findNear(nest, "");
  }

  /// Within bounds that grow.
  bool findNear(const PairNest &nest, const std::string &more) {
    for (int64_t bound = 8; bound <= mostTrips; bound *= 8) {
      context.startQuestion(maxOperations);
      PairNest near = nest;
      near.overlap = boundText(nest, bound);
      for (const std::string &condition : {more, nest.overlap}) {
        near.overlap += condition.empty() ? "" : fmt::format(" and ({})", condition);
      }
      IslSet set = context.parse(NestText(near).conflicts());
      if (!context.gaveUp() && !set.isEmpty()) {
        fixAll(nest, std::move(set));
        return !context.gaveUp();
      }
    }
    return false;
  }

  /// Of loops around both whose trips are named: they are the same for both, and enough for both.
  static std::string uniformText(const PairNest &nest) {
    Conditions all;
    for (size_t i = 0; i < nest.lengths.size(); ++i) {
      const Length &length = nest.lengths[i];
      for (size_t k = 0; k < nest.lengths.size() && !length.isOwn; ++k) {
        if (!nest.lengths[k].isOwn && nest.lengths[k].loop == length.loop) {
          all.add("n{} = n{} and c{} < n{} and c{} - d{} < n{}", i, k, length.loop, i, length.loop,
                  length.loop, i);
        }
      }
    }
    return all.text();
  }

  static std::string boundText(const PairNest &nest, int64_t bound) {
    Conditions all;
    for (size_t i = 0; i < nest.levels.size(); ++i) {
      all.add("c{0} < {1} and c{0} - d{0} < {1}", i, bound);
    }
    for (auto [name, count] : {std::pair('u', nest.producerOwn.size()),
                               {'w', nest.consumerOwn.size()},
                               {'n', nest.lengths.size()},
                               {'v', nest.values.size()}}) {
      for (size_t i = 0; i < count; ++i) {
        bool isIteration = name == 'u' || name == 'w';
        all.add("{}{} <= {}", name, i, isIteration ? bound - 1 : bound);
      }
    }
    return all.text();
  }

  /// The two are as close to one another as they can be, outer loops before inner ones, and come as
  /// early: where code waits for a close one, it mostly waits for those farther away, too.
  void fixAll(const PairNest &nest, IslSet set) {
    auto numLevels = static_cast<uint32_t>(nest.levels.size());
    uint32_t numOwn = static_cast<uint32_t>(nest.producerOwn.size() + nest.consumerOwn.size());
    uint32_t numRest =
        static_cast<uint32_t>(2 * nest.counters.size() + nest.lengths.size() + nest.values.size());
    point.assign(2 * numLevels + numOwn + numRest, 0);
    for (uint32_t i = 0; i < point.size(); ++i) {
      point[i] = set.smallest(i).value_or(0);
      set = set.fixed(i, point[i]);
    }
  }

  Encounter placeOf(const TilePair &pair, const PairNest &nest, const NestNames &names) const {
    const std::vector<CountedBody> &counted = names.counted;
    Encounter place;
    const std::vector<LoopId> &levels = pair.place.levels;
    std::array<std::vector<LoopId>, 2> own = {
        kernel.realLoops(pair.place.producerHome, pair.place.shared),
        kernel.realLoops(pair.place.consumerHome, pair.place.shared)};
    auto at = [&](size_t side, LoopId loop) -> LoopIndex & {
      constexpr LoopIndex unknown{Encounter::any, Encounter::any, Encounter::any};
      return place.at[side].try_emplace(loop, unknown).first->second;
    };
    size_t next = 2 * levels.size();
    for (size_t i = 0; i < levels.size(); ++i) {
      at(1, levels[i]).iteration = point[levels.size() + i];
      at(0, levels[i]).iteration = point[levels.size() + i] - point[i];
    }
    for (size_t side : {0, 1}) {
      for (LoopId loop : own[side]) {
        at(side, loop).iteration = point[next++];
      }
    }
    for (size_t i = 0; i < counted.size(); ++i) {
      for (size_t side : {0, 1}) {
        if (nest.counters[i].isShared || counted[i].atProducer == (side == 0)) {
          at(side, counted[i].body).total = point[next + side * counted.size() + i];
        }
      }
    }
    next += 2 * counted.size();
    for (const Length &length : nest.lengths) {
      size_t side = length.atProducer ? 0 : 1;
      at(side, length.isOwn ? own[side][length.loop] : levels[length.loop]).trips = point[next++];
    }
    for (RunValueId value : names.values) {
      place.values[value] = point[next++];
    }
    return place;
  }

  const Kernel &kernel;
  const int64_t mostTrips;
  const TileBoxes tiles;
  IslContext context;
  std::vector<int64_t> point; ///< of the last question
  uint32_t numQuestions = 0;
};

EncounterFinder::EncounterFinder(const Kernel &kernel, int64_t mostTrips)
    : impl(std::make_unique<Impl>(kernel, mostTrips)) {}

EncounterFinder::~EncounterFinder() = default;

bool EncounterFinder::mayMeet(Party first, Party second) const {
  return impl->mayMeet(first, second);
}

EncounterFinder::Answer EncounterFinder::find(Party first, Party second, Encounter &place) {
  return impl->find(first, second, place);
}

} // namespace tally
