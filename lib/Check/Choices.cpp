//===- Choices.cpp - Which runs of a kernel are tried ---------------------===//

#include "tally/Check/Choices.h"

#include "Encounter.h"

#include "tally/Check/Explore.h"
#include "tally/Model/Overlap.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

namespace tally {
namespace {

/// Pairs of accesses that are looked at, and places for all of them together.
constexpr size_t mostPairs = 20'000;
constexpr uint64_t mostEffort = 20'000;

constexpr size_t mostRare = 32;

constexpr uint64_t numGuardSeeds = 16;

/// How often loops run in the first choices; and more often than the longest distance.
constexpr std::array<uint64_t, 4> fewTrips = {0, 1, 2, 3};

bool isFree(const Loop &loop) {
  return loop.kind == LoopKind::Loop && loop.trip.kind == Trip::Kind::Value;
}

//===----------------------------------------------------------------------===//
// Who may conflict
//===----------------------------------------------------------------------===//

/// Who has to meet: accesses that may conflict, and the two instructions of a dependence.
class Conflicts {
public:
  Conflicts(const Kernel &kernel, const Machine &machine)
      : kernel(kernel), machine(machine), shared(kernel), touching(kernel.buffers.size()),
        isWritten(kernel.buffers.size(), false) {
    for (InstrId instr : kernel.instrs.ids()) {
      for (AccessId a : kernel.instrs[instr].accesses) {
        BufferId group = shared.groupOf(kernel.accesses[a].buffer);
        touching[group].push_back({instr, a});
        isWritten[group] = isWritten[group] || kernel.accesses[a].kind != AccessKind::Read;
      }
    }
  }

  /// Calls visit(a, b) for those of two groups of equal ones once, until it says no.
  template <typename Visit> void forPairs(Visit visit) const {
    for (const Dep &dep : kernel.deps) {
      if (!visit(Party{dep.producer, {}}, Party{dep.consumer, {}})) {
        return;
      }
    }
    for (BufferId group : kernel.buffers.ids()) {
      const std::vector<Party> &all = touching[group];
      for (size_t i = 0; isWritten[group] && i < all.size(); ++i) {
        for (size_t j = i; j < all.size(); ++j) {
          if (mayConflict(all[i], all[j]) && !visit(all[i], all[j])) {
            return;
          }
        }
      }
    }
  }

  bool hasConflict(Party party) const {
    BufferId group = shared.groupOf(kernel.accesses[party.access].buffer);
    return isWritten[group] && std::ranges::any_of(touching[group], [&](const Party &other) {
             return mayConflict(party, other);
           });
  }

private:
  bool mayConflict(Party a, Party b) const {
    const Access &first = kernel.accesses[a.access], &second = kernel.accesses[b.access];
    bool isSameQueue = kernel.instrs[a.instr].queue == kernel.instrs[b.instr].queue;
    bool areReads = first.kind == AccessKind::Read && second.kind == AccessKind::Read;
    bool areSums = first.kind == AccessKind::Accumulate && second.kind == AccessKind::Accumulate;
    bool areOrdered = isSameQueue && (areSums || !machine.queueOverlap);
    bool isOnce = a.instr == b.instr && kernel.realLoop(kernel.instrs[a.instr].home) == rootLoop;
    return !areReads && !areOrdered && !isOnce &&
           (first.buffer == second.buffer ||
            shared.between(first.buffer, second.buffer) != InCommon::Nothing);
  }

  const Kernel &kernel;
  const Machine &machine;
  SharedMemory shared;
  IdVector<BufferId, std::vector<Party>> touching; ///< by group
  IdVector<BufferId, bool> isWritten;              ///< by group
};

//===----------------------------------------------------------------------===//
// Choosing
//===----------------------------------------------------------------------===//

class RunChooser {
public:
  RunChooser(const Kernel &kernel, const Kernel &asked, const Machine &machine)
      : kernel(kernel), asked(asked), machine(machine) {}

  std::vector<RunChoice> run() {
    addUsual();
    mostChoices = choices.size() + mostRare;
    addRare();
    return std::move(choices);
  }

  bool leavesOut() const { return hasMore; }

private:
  using Trips = std::vector<uint64_t>;

  //===--- Usual ones -----------------------------------------------------===//

  void addUsual() {
    for (uint64_t count : fewTrips) {
      add([&](LoopId) { return Trips{count}; });
    }
    const uint64_t many = manyTrips();
    add([&](LoopId loop) { return Trips{std::max(many, longestDistance(asked, loop) + 1)}; });
    for (LoopId one : kernel.loops.ids()) {
      if (isFree(kernel.loops[one])) {
        add([&](LoopId loop) { return Trips{loop == one ? 0u : 3u}; });
        add([&](LoopId loop) { return Trips{loop == one ? 1u : 3u}; });
        add([&](LoopId loop) { return Trips{kernel.encloses(loop, one) ? 3u : 1u}; });
      }
    }
    add([](LoopId loop) { return loop.value % 2 == 0 ? Trips{3, 0, 2} : Trips{4, 1, 0, 3}; });
    addDivergent();
  }

  uint64_t manyTrips() const {
    uint64_t longest = 3;
    for (const DistanceComponent &component : asked.components) {
      longest = std::max(longest, static_cast<uint64_t>(std::abs(component.distance)));
    }
    return std::min<uint64_t>(2 * longest + 3, 100);
  }

  /// One set of trips for all engines.
  template <typename TripsOf> void add(TripsOf tripsOf) {
    RunChoice choice{Bindings(kernel), {}, 0, false};
    for (LoopId id : kernel.loops.ids()) {
      if (isFree(kernel.loops[id])) {
        bind(choice, id, {}, tripsOf(id));
      }
    }
    keep(std::move(choice));
  }

  /// Divergent loops another number of times on each engine.
  void addDivergent() {
    RunChoice choice{Bindings(kernel), {}, 0, false};
    for (LoopId id : kernel.loops.ids()) {
      if (isFree(kernel.loops[id]) && kernel.loops[id].uniform) {
        bind(choice, id, {}, {3});
      } else if (isFree(kernel.loops[id])) {
        for (EngineId engine : kernel.engines.ids()) {
          bind(choice, id, engine, {(engine.value + 2) % 4});
        }
      }
    }
    keep(std::move(choice));
  }

  /// Within the bounds of the kernel.
  uint64_t withinBounds(LoopId id, uint64_t count) const {
    const Trip &bounds = kernel.loops[id].trip;
    return std::min(std::max(count, bounds.least()), bounds.most().value_or(UINT64_MAX));
  }

  void bind(RunChoice &choice, LoopId id, EngineId engine, Trips trips) const {
    for (uint64_t &count : trips) {
      count = withinBounds(id, count);
    }
    std::string on = engine.valid() ? fmt::format("@{}", kernel.nameOf(engine)) : "";
    choice.options.push_back(fmt::format("{}{}={}", kernel.nameOf(id), on, fmt::join(trips, ",")));
    choice.bindings.set(id, std::move(trips), engine);
  }

  /// Unless it is there already.
  void keep(RunChoice choice) {
    if (!known.insert(choice.options).second) {
      return;
    }
    bool hasSeeds = hasGuards(kernel) && !choice.isRare;
    for (choice.guards = 0; choice.guards < (hasSeeds ? numGuardSeeds : 1); ++choice.guards) {
      choice.bindings.setGuardSeed(choice.guards);
      choices.push_back(choice);
    }
  }

  //===--- Rare ones ------------------------------------------------------===//

  void addRare() {
    std::set<std::array<uint32_t, 5>> seen;
    uint64_t effort = mostEffort;
    size_t numPairs = 0;
    Conflicts(kernel, machine).forPairs([&](Party a, Party b) {
      // Each alone, too: it may be that they never meet.
      for (auto [first, second] : {std::pair(a, b), {b, a}, {a, Party()}, {b, Party()}}) {
        if (seen.insert(kindOf(first, second)).second) {
          bringTogether(first, second, effort);
        }
      }
      return !hasMore && effort > 0 && ++numPairs < mostPairs;
    });
  }

  /// Equal for those whose meetings are the same.
  std::array<uint32_t, 5> kindOf(Party a, Party b) const {
    auto homeOf = [&](Party party) {
      return party.instr.valid() ? kernel.instrs[party.instr].home.value : UINT32_MAX;
    };
    auto tileOf = [&](Party party) {
      return party.access.valid() ? kernel.tiles->of(party.access).value : UINT32_MAX;
    };
    return {homeOf(a), tileOf(a), homeOf(b), tileOf(b), static_cast<uint32_t>(a.instr < b.instr)};
  }

  void bringTogether(Party a, Party b, uint64_t &effort) {
    Encounter meeting(kernel, a, b);
    std::optional<EncounterPlace> place = meeting.find(effort);
    if (place && !isUsual(meeting, *place)) {
      hasMore |= choices.size() >= mostChoices;
      addEncounter(meeting, *place);
    }
  }

  /// Whether a run with few decisions to take, and with equal trips, has this meeting, too.
  bool isUsual(const Encounter &meeting, const EncounterPlace &place) const {
    size_t numDecisions = 0;
    for (size_t slot = 0; slot < meeting.loops().size(); ++slot) {
      const Loop &loop = kernel.loops[meeting.loops()[slot]];
      bool isCounted = loop.kind != LoopKind::Else || !meeting.isParted();
      bool isDecided = loop.trip.kind == Trip::Kind::Guard || loop.isBranch();
      numDecisions += isCounted && isDecided ? static_cast<size_t>(place.trips[slot]) : 0;
    }
    auto holdsWith = [&](uint64_t count) {
      std::vector<int64_t> trips = place.trips;
      for (size_t slot = 0; slot < trips.size(); ++slot) {
        LoopId loop = meeting.loops()[slot];
        trips[slot] = isFree(kernel.loops[loop]) ? static_cast<int64_t>(withinBounds(loop, count))
                                                 : trips[slot];
      }
      return meeting.holdsWith(place, trips);
    };
    return numDecisions < 2 && (std::ranges::any_of(fewTrips, holdsWith) || holdsWith(manyTrips()));
  }

  /// Loops that are not around run as seldom as they may: what they wait for may bring about an
  /// order that is missing.
  void addEncounter(const Encounter &meeting, const EncounterPlace &place) {
    if (hasMore) {
      return;
    }
    std::map<LoopId, Trips> trips;
    for (size_t slot = 0; slot < meeting.loops().size(); ++slot) {
      LoopId id = meeting.loops()[slot];
      const Loop &loop = kernel.loops[id];
      if (loop.isBranch()) { // where they part, in turn
        bool isElse = loop.kind == LoopKind::Else;
        trips[isElse ? loop.otherBranch : id].push_back(isElse ? 0 : 1);
      } else if (loop.trip.kind != Trip::Kind::Constant) {
        trips[id].push_back(static_cast<uint64_t>(place.trips[slot]));
      }
    }
    RunChoice choice{Bindings(kernel), {}, 0, true};
    for (LoopId id : kernel.loops.ids()) {
      if (trips.contains(id)) {
        bind(choice, id, {}, std::move(trips[id]));
      } else if (isFree(kernel.loops[id])) {
        bind(choice, id, {}, {kernel.loops[id].trip.min});
      }
    }
    keep(std::move(choice));
  }

  const Kernel &kernel;
  const Kernel &asked;
  const Machine &machine;
  std::vector<RunChoice> choices;
  size_t mostChoices = 0;
  bool hasMore = false; ///< than may be tried
  std::set<std::vector<std::string>> known;
};

} // namespace

std::vector<RunChoice> chooseRuns(const Kernel &kernel, const Kernel &asked, const Machine &machine,
                                  bool *leavesOut) {
  RunChooser chooser(kernel, asked, machine);
  std::vector<RunChoice> choices = chooser.run();
  if (leavesOut) {
    *leavesOut = chooser.leavesOut();
  }
  return choices;
}

//===----------------------------------------------------------------------===//
// Trying
//===----------------------------------------------------------------------===//

/// Beyond its buffer no access is compared, whatever else is seen.
static bool saysNothing(const RaceResult &result) {
  bool isOutside = std::ranges::any_of(
      result.reports, [](const RaceReport &report) { return report.kind == ReportKind::Outside; });
  return isOutside ||
         (result.timeIsUp && !result.isStopped && result.verdict == Verdict::Undecided);
}

void raceRuns(const Kernel &kernel, const Code &code, const Machine &machine,
              const std::vector<RunChoice> &choices, RaceOptions &options,
              const std::function<bool(const RunChoice &, RaceResult)> &visit) {
  using Time = std::chrono::steady_clock;
  const Time::time_point start = Time::now();
  const double total = options.seconds;
  for (size_t i = 0; i < choices.size(); ++i) {
    // What one choice leaves of its share, the others have.
    double left = total - std::chrono::duration<double>(Time::now() - start).count();
    options.seconds = std::max(left, 0.0) / static_cast<double>(choices.size() - i);
    RaceResult result = checkRaces(kernel, code, machine, choices[i].bindings, options);
    bool isLeftOut = choices[i].isRare && saysNothing(result);
    if (!isLeftOut && !visit(choices[i], std::move(result))) {
      return;
    }
  }
}

//===----------------------------------------------------------------------===//
// What has to happen
//===----------------------------------------------------------------------===//

bool hasGuards(const Kernel &kernel) {
  return std::ranges::any_of(kernel.loops,
                             [](const Loop &loop) { return loop.trip.kind == Trip::Kind::Guard; });
}

/// Calls visit(loop) for what is around an instruction, inner ones first.
template <typename Visit> static void forAround(const Kernel &kernel, InstrId instr, Visit visit) {
  for (LoopId l = kernel.instrs[instr].home; l != rootLoop; l = kernel.loops[l].parent) {
    visit(l);
  }
}

Comparable findComparable(const Kernel &kernel, const Machine &machine) {
  Conflicts conflicts(kernel, machine);
  Comparable found{IdVector<AccessId, bool>(kernel.accesses.size(), false),
                   IdVector<InstrId, bool>(kernel.instrs.size(), false)};
  for (InstrId instr : kernel.instrs.ids()) {
    for (AccessId a : kernel.instrs[instr].accesses) {
      found.accesses[a] = conflicts.hasConflict({instr, a});
      found.instrs[instr] = found.instrs[instr] || found.accesses[a];
    }
  }
  for (const Dep &dep : kernel.deps) {
    found.instrs[dep.producer] = found.instrs[dep.consumer] = true;
  }
  for (InstrId instr : kernel.instrs.ids()) {
    forAround(kernel, instr, [&](LoopId l) {
      bool mayRun = kernel.loops[l].isBranch() || kernel.loops[l].trip.most() != 0;
      found.instrs[instr] = found.instrs[instr] && mayRun;
    });
  }
  return found;
}

/// Whether two are in different branches of one `if` that runs only once.
static bool areAlternatives(const Kernel &kernel, InstrId a, InstrId b) {
  LoopId common = kernel.commonLoop(kernel.instrs[a].home, kernel.instrs[b].home);
  LoopId towardsA = kernel.childTowards(common, kernel.instrs[a].home);
  LoopId towardsB = kernel.childTowards(common, kernel.instrs[b].home);
  return kernel.realLoop(common) == rootLoop && towardsA.valid() && towardsB.valid() &&
         kernel.loops[towardsA].otherBranch == towardsB;
}

std::vector<std::pair<Toucher, Toucher>>
neverTogether(const Kernel &kernel, const Machine &machine,
              const std::vector<IdVector<AccessId, bool>> &touched) {
  constexpr size_t mostNamed = 8;
  std::vector<std::pair<Toucher, Toucher>> apart;
  size_t numPairs = 0;
  auto isTouched = [&](AccessId access) {
    return std::ranges::any_of(touched, [&](const auto &run) { return run[access]; });
  };
  Conflicts(kernel, machine).forPairs([&](Party a, Party b) {
    bool areAccesses = a.access.valid() && b.access.valid();
    bool haveMet = !areAccesses || a.access == b.access ||
                   std::ranges::any_of(
                       touched, [&](const auto &run) { return run[a.access] && run[b.access]; }) ||
                   areAlternatives(kernel, a.instr, b.instr);
    if (!haveMet && isTouched(a.access) && isTouched(b.access)) {
      apart.push_back({{a.instr, a.access}, {b.instr, b.access}});
    }
    return apart.size() < mostNamed && ++numPairs < mostPairs;
  });
  return apart;
}

namespace {

/// What guards say about few iterations of few loops is tried.
class GuardSearch {
public:
  GuardSearch(const Kernel &kernel, AccessId access)
      : kernel(kernel), tile((*kernel.tiles)[access]) {
    for (const TileGuard &guard : tile.access.guards) {
      collect(guard.left);
      collect(guard.right);
    }
  }

  bool mayHold() { return hasTotal || mayHoldFrom(loops.begin()); }

private:
  void collect(TileExprId id) {
    if (!id.valid()) {
      return;
    }
    const TileExpr &node = tile.access.exprs[id];
    hasTotal |= node.kind == TileExpr::Kind::Total;
    if (node.kind == TileExpr::Kind::Loop || node.kind == TileExpr::Kind::Trips) {
      loops.try_emplace(tile.loopOf(node));
    }
    collect(node.a);
    collect(node.b);
  }

  using Indices = std::map<LoopId, LoopIndex>;

  /// With all iterations of these loops; beyond what is tried, any may do.
  bool mayHoldFrom(Indices::iterator loop) {
    if (loop == loops.end()) {
      return tile.mayHold([&](LoopId l) { return loops[l]; });
    }
    const Trip &trip = kernel.loops[loop->first].trip;
    bool isBranch = kernel.loops[loop->first].isBranch();
    uint64_t most = isBranch ? 1 : trip.most().value_or(UINT64_MAX);
    for (uint64_t trips = isBranch ? 1 : std::max<uint64_t>(trip.least(), 1); trips <= most;
         ++trips) {
      for (uint64_t i = 0; i < trips; ++i) {
        loop->second = {static_cast<int64_t>(i), 0, static_cast<int64_t>(trips)};
        if (left == 0 || --left == 0 || mayHoldFrom(std::next(loop))) {
          return true;
        }
      }
    }
    return false;
  }

  const Kernel &kernel;
  const BodyTile &tile;
  Indices loops; ///< that the guards name
  bool hasTotal = false;
  uint64_t left = 10'000;
};

} // namespace

bool mayTouch(const Kernel &kernel, AccessId access) {
  return GuardSearch(kernel, access).mayHold();
}

std::string whenRuns(const Kernel &kernel, InstrId instr) {
  std::vector<std::string> parts;
  forAround(kernel, instr, [&](LoopId l) {
    const Loop &loop = kernel.loops[l];
    bool isElse = loop.kind == LoopKind::Else;
    if (loop.isBranch()) {
      parts.push_back(fmt::format("branch '{}' {}taken",
                                  kernel.nameOf(isElse ? loop.otherBranch : l),
                                  isElse ? "not " : ""));
    } else if (loop.trip.least() == 0) {
      parts.push_back(fmt::format("loop '{}' entered", kernel.nameOf(l)));
    }
  });
  std::ranges::reverse(parts);
  return fmt::format("{}", fmt::join(parts, ", "));
}

TouchText touchText(const Kernel &kernel, AccessId access) {
  ParsedAccess tile = (*kernel.tiles)[access].access;
  std::string whole = toString(tile);
  tile.guards.clear();
  std::string text = toString(tile);
  constexpr std::string_view word = " if ";
  bool isGuarded = whole.size() > text.size() + word.size();
  return {text, isGuarded ? whole.substr(text.size() + word.size()) : ""};
}

} // namespace tally
