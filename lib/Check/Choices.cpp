//===- Choices.cpp - Which runs of a kernel are tried ---------------------===//

#include "tally/Check/Choices.h"

#include "Meetings.h"
#include "RunsTo.h"

#include "tally/Check/Explore.h"
#include "tally/Model/Overlap.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

namespace tally {

using namespace check;

namespace {

/// Pairs that are looked at, and those of them that are kept.
constexpr size_t mostSeen = 2'000'000;
constexpr size_t mostPairs = 20'000;

constexpr size_t mostRare = 32;

/// Further iterations take too long to be tried.
constexpr int64_t mostTrips = 1 << 14;

/// Entries of bodies and runs of instructions that a choice of our own may have, about; so loops in
/// loops run less often.
constexpr double mostPoints = 400'000;

constexpr uint64_t numGuardSeeds = 16;

/// Of so many branches all ways are tried; and of so many each one for itself.
constexpr size_t mostDecidedAllWays = 6;
constexpr size_t mostDecidedAlone = 32;

/// How often loops run in the first choices; and more often than the longest distance.
constexpr std::array<uint64_t, 4> fewTrips = {0, 1, 2, 3};

/// Whether each run chooses how often it runs.
bool isFree(const Kernel &kernel, const RunChoice &given, LoopId id) {
  const Loop &loop = kernel.loops[id];
  return loop.kind == LoopKind::Loop && loop.trip.kind == Trip::Kind::Value &&
         !given.bindings.isSet(id);
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

private:
  bool mayConflict(Party a, Party b) const {
    const Access &first = kernel.accesses[a.access], &second = kernel.accesses[b.access];
    bool isSameQueue = kernel.instrs[a.instr].queue == kernel.instrs[b.instr].queue;
    bool areReads = first.kind == AccessKind::Read && second.kind == AccessKind::Read;
    bool areSums = first.kind == AccessKind::Accumulate && second.kind == AccessKind::Accumulate;
    bool addUp = areSums && kernel.queues[kernel.instrs[a.instr].queue].addsInOrder;
    bool areOrdered = isSameQueue && (addUp || !machine.queueOverlap);
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

using Trips = std::vector<uint64_t>;

/// Within the bounds of the kernel.
uint64_t withinBounds(const Trip &bounds, uint64_t count) {
  return std::min(std::max(count, bounds.least()), bounds.most().value_or(UINT64_MAX));
}

/// The runs that are tried in any case.
class UsualRuns {
public:
  UsualRuns(const Kernel &kernel, const Kernel &asked, const RunChoice &given)
      : kernel(kernel), asked(asked), given(given), numInstrs(kernel.loops.size(), 0) {
    for (const Instr &instr : kernel.instrs) {
      ++numInstrs[instr.home];
    }
    for (uint64_t count : fewTrips) {
      add([&](LoopId) { return Trips{count}; });
    }
    const uint64_t many = manyTrips();
    add([&](LoopId loop) { return Trips{std::max(many, longestDistance(asked, loop) + 1)}; });
    numShort = choices.size();
    for (LoopId one : kernel.loops.ids()) {
      if (isFree(kernel, given, one) || leads(one)) {
        add([&](LoopId loop) { return Trips{loop == one ? 0u : 3u}; });
        add([&](LoopId loop) { return Trips{loop == one ? 1u : 3u}; });
        add([&](LoopId loop) { return Trips{kernel.encloses(loop, one) ? 3u : 1u}; });
      }
    }
    add([](LoopId loop) { return loop.value % 2 == 0 ? Trips{3, 0, 2} : Trips{4, 1, 0, 3}; });
    addDivergent();
    addDecided();
  }

  std::vector<RunChoice> take() { return std::move(choices); }

  /// The one in which all loops run more often than the longest distance.
  size_t longest() const { return numShort - 1; }

private:
  /// Branches that are decided alike at each entry: all ways if they are few, else all taken, none,
  /// and each one in turn alone, or left out.
  void addDecided() {
    const std::vector<Decision> decisions = decisionsOf(kernel, given.bindings);
    const size_t count = decisions.size();
    auto add = [&](auto isTaken) {
      std::vector<bool> taken(count);
      for (size_t i = 0; i < count; ++i) {
        taken[i] = isTaken(i);
      }
      addDecided(decisions, taken);
    };
    for (uint64_t way = 0; count <= mostDecidedAllWays && way < uint64_t(1) << count; ++way) {
      add([&](size_t i) { return (way >> i & 1) != 0; });
    }
    if (count > mostDecidedAllWays) {
      add([](size_t) { return false; });
      add([](size_t) { return true; });
      for (size_t one = 0; one < std::min(count, mostDecidedAlone); ++one) {
        add([&](size_t i) { return i == one; });
        add([&](size_t i) { return i != one; });
      }
    }
  }

  void addDecided(const std::vector<Decision> &decisions, const std::vector<bool> &taken) {
    if (decisions.empty()) {
      return;
    }
    const uint64_t most = mostThatFit([](LoopId) { return uint64_t(3); });
    RunChoice choice = given;
    for (LoopId id : kernel.loops.ids()) {
      if (isFree(kernel, given, id)) {
        choice.bind(kernel, id, {}, {most});
      }
    }
    for (size_t i = 0; i < decisions.size(); ++i) {
      choice.bind(kernel, decisions[i].branch, decisions[i].engine, {taken[i] ? 1u : 0u});
    }
    keep(std::move(choice));
  }

  /// Whether a value is chosen as the trips of this loop are.
  bool leads(LoopId loop) const {
    bool isLead = false;
    for (RunValueId id : kernel.values.ids()) {
      isLead |= kernel.values[id].loop == loop && !given.bindings.isSet(id);
    }
    return isLead;
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
    RunChoice choice = given;
    const uint64_t most = mostThatFit([&](LoopId loop) { return std::ranges::max(tripsOf(loop)); });
    for (LoopId id : kernel.loops.ids()) {
      if (isFree(kernel, given, id)) {
        Trips trips = tripsOf(id);
        std::ranges::for_each(trips, [&](uint64_t &count) { count = std::min(count, most); });
        choice.bind(kernel, id, {}, std::move(trips));
      }
    }
    for (RunValueId id : kernel.values.ids()) {
      choice.bind(kernel, id, std::min(std::ranges::max(tripsOf(kernel.values[id].loop)), most));
    }
    keep(std::move(choice));
  }

  /// How often free loops may run, of `wanted(loop)` times, for a run that is not too long.
  template <typename Wanted> uint64_t mostThatFit(Wanted wanted) const {
    uint64_t most = 1;
    for (LoopId id : kernel.loops.ids()) {
      most = isFree(kernel, given, id) || leads(id) ? std::max(most, wanted(id)) : most;
    }
    // What loops of constant trips take anyway is no reason to run others once only.
    const double limit = std::max(mostPoints, 4 * numPoints(wanted, 1));
    while (most > 1 && numPoints(wanted, most) > limit) {
      most -= (most + 3) / 4;
    }
    return most;
  }

  /// Of all engines; a body comes behind those around it.
  template <typename Wanted> double numPoints(Wanted wanted, uint64_t most) const {
    IdVector<LoopId, double> entries(kernel.loops.size(), 1);
    double points = 0;
    for (LoopId id : kernel.loops.ids()) {
      const Loop &loop = kernel.loops[id];
      bool varies = isFree(kernel, given, id) || loop.trip.kind == Trip::Kind::Formula;
      uint64_t trips = varies ? withinBounds(loop.trip, std::min(wantedOf(id, wanted), most))
                              : loop.trip.most().value_or(1);
      entries[id] = id == rootLoop ? 1 : entries[loop.parent] * static_cast<double>(trips);
      points += entries[id] * static_cast<double>(kernel.engines.size() + numInstrs[id]);
    }
    return points;
  }

  /// A formula is about as much as the largest value in it.
  template <typename Wanted> uint64_t wantedOf(LoopId id, Wanted wanted) const {
    uint64_t largest = 0;
    if (kernel.loops[id].trip.kind == Trip::Kind::Formula) {
      for (RunValueId value : kernel.tiles->formulaOf(id).values) {
        largest = std::max(largest, value.valid() ? wanted(kernel.values[value].loop) : 0);
      }
    }
    return largest > 0 ? largest : wanted(id);
  }

  /// Divergent loops another number of times on each engine.
  void addDivergent() {
    RunChoice choice = given;
    const uint64_t most = mostThatFit([](LoopId) { return uint64_t(3); });
    for (LoopId id : kernel.loops.ids()) {
      if (isFree(kernel, given, id) && kernel.loops[id].uniform) {
        choice.bind(kernel, id, {}, {most});
      } else if (isFree(kernel, given, id)) {
        for (EngineId engine : kernel.engines.ids()) {
          choice.bind(kernel, id, engine, {std::min<uint64_t>((engine.value + 2) % 4, most)});
        }
      }
    }
    for (RunValueId id : kernel.values.ids()) {
      choice.bind(kernel, id, most);
    }
    keep(std::move(choice));
  }

  /// Whether seeds would change nothing.
  bool isDecided(const RunChoice &choice) const {
    bool all = true;
    for (LoopId id : kernel.loops.ids()) {
      all &= !kernel.loops[id].trip.isOpaque() || choice.bindings.isSet(id);
    }
    return all;
  }

  /// Unless it is there already.
  void keep(RunChoice choice) {
    if (!known.insert(choice.options).second) {
      return;
    }
    if (isDecided(choice)) {
      return choices.push_back(std::move(choice));
    }
    for (choice.guards = 0; choice.guards < numGuardSeeds; ++choice.guards) {
      choice.bindings.setGuardSeed(choice.guards);
      choices.push_back(choice);
    }
  }

  const Kernel &kernel;
  const Kernel &asked;
  const RunChoice &given;
  IdVector<LoopId, size_t> numInstrs; ///< that a body has itself
  std::vector<RunChoice> choices;
  size_t numShort = 0;
  std::set<std::vector<std::string>> known;
};

class RunChooser {
public:
  RunChooser(const Kernel &kernel, const Kernel &asked, const Machine &machine,
             const RunChoice &given, const StopFlag *stop)
      : kernel(kernel), machine(machine), given(given), stop(stop), finder(kernel, mostTrips) {
    UsualRuns usual(kernel, asked, given);
    longest = usual.longest();
    choices = usual.take();
  }

  ChosenRuns run() {
    findPairs();
    dropThoseIn(choices[longest]);
    dropThoseThatNeverMeet();
    for (const RunChoice &choice : choices) {
      dropThoseIn(choice);
    }
    addRare();
    return {std::move(choices), std::move(apart), hasMore};
  }

private:
  //===--- Pairs ----------------------------------------------------------===//

  /// Two, and where they touch the same if that is known.
  struct Pair {
    Apart ends;
    EncounterFinder::Answer answer = EncounterFinder::Answer::Open;
    Encounter place;
  };

  void findPairs() {
    std::set<std::array<uint32_t, 7>> kinds;
    size_t numSeen = 0;
    IdVector<LoopId, bool> isOut(kernel.loops.size(), false);
    for (LoopId body : kernel.loops.ids()) {
      isOut[body] = given.bindings.keepsOut(body);
    }
    auto runs = [&](Party party) { return !isOut[kernel.instrs[party.instr].home]; };
    Conflicts(kernel, machine).forPairs([&](Party a, Party b) {
      for (auto [first, second] : {std::pair(a, b), {b, a}}) {
        bool isNew = pairs.size() < mostPairs && runs(a) && runs(b) &&
                     finder.mayMeet(first, second) && kinds.insert(kindOf(first, second)).second;
        if (isNew) {
          pairs.push_back({{first, second}, {}, {}});
        }
      }
      hasMore = ++numSeen == mostSeen || pairs.size() == mostPairs || isSet(stop);
      return !hasMore;
    });
  }

  /// Equal for those whose meetings are the same.
  std::array<uint32_t, 7> kindOf(Party a, Party b) const {
    auto homeOf = [&](Party party) { return kernel.instrs[party.instr].home.value; };
    auto tileOf = [&](Party party) {
      return party.access.valid() ? kernel.tiles->of(party.access).value : UINT32_MAX;
    };
    auto engineOf = [&](Party party) { return kernel.engineOf(party.instr).value; };
    return {homeOf(a),
            tileOf(a),
            homeOf(b),
            tileOf(b),
            engineOf(a),
            engineOf(b),
            static_cast<uint32_t>(a.instr < b.instr)};
  }

  void dropThoseIn(const RunChoice &choice) {
    if (!pairs.empty() && !isSet(stop)) {
      Meetings run(kernel, choice.bindings, stop);
      std::erase_if(pairs,
                    [&](const Pair &pair) { return run.meet(pair.ends.first, pair.ends.second); });
    }
  }

  void dropThoseThatNeverMeet() {
    for (Pair &pair : pairs) {
      pair.answer = isSet(stop) ? EncounterFinder::Answer::Open
                                : finder.find(pair.ends.first, pair.ends.second, pair.place);
    }
    std::erase_if(pairs,
                  [](const Pair &pair) { return pair.answer == EncounterFinder::Answer::Never; });
  }

  //===--- Rare ones ------------------------------------------------------===//

  void addRare() {
    std::vector<std::unique_ptr<Meetings>> rare;
    for (const Pair &pair : pairs) {
      auto meetsIn = [&](const auto &run) { return run->meet(pair.ends.first, pair.ends.second); };
      auto with = std::ranges::find_if(rare, meetsIn);
      size_t numUsual = choices.size() - rare.size();
      if (with != rare.end()) {
        choices[numUsual + static_cast<size_t>(with - rare.begin())].meeting.push_back(pair.ends);
        continue;
      }
      bool isOpen = pair.answer == EncounterFinder::Answer::Open || rare.size() == mostRare;
      if (isOpen || isSet(stop) || !bringTogether(pair, rare)) {
        apart.push_back(pair.ends);
      }
    }
  }

  /// By the first way in which they do meet.
  bool bringTogether(const Pair &pair, std::vector<std::unique_ptr<Meetings>> &rare) {
    auto homeOf = [&](Party party) { return kernel.instrs[party.instr].home; };
    std::array<LoopId, 2> homes = {homeOf(pair.ends.first), homeOf(pair.ends.second)};
    for (TripsByEntry &trips : tripsTo(kernel, pair.place, homes)) {
      RunChoice choice = rareRun(std::move(trips), pair.place.values);
      auto run = std::make_unique<Meetings>(kernel, choice.bindings, stop);
      if (run->meet(pair.ends.first, pair.ends.second)) {
        choice.meeting.push_back(pair.ends);
        choices.push_back(std::move(choice));
        rare.push_back(std::move(run));
        return true;
      }
    }
    return false;
  }

  /// Loops that are not around run as seldom as they may: what they wait for may bring about an
  /// order that is missing.
  RunChoice rareRun(TripsByEntry trips, const std::map<RunValueId, int64_t> &values) const {
    RunChoice choice = given;
    choice.isRare = true;
    for (RunValueId id : kernel.values.ids()) {
      auto found = values.find(id);
      int64_t usual = choice.bindings.values()[id.value];
      choice.bind(kernel, id, static_cast<uint64_t>(found == values.end() ? usual : found->second));
    }
    for (LoopId id : kernel.loops.ids()) {
      auto found = trips.find(id);
      if (found != trips.end()) {
        Trips &all = found->second;
        bool isSame = std::ranges::adjacent_find(all, std::not_equal_to()) == all.end();
        all.resize(isSame ? std::min<size_t>(all.size(), 1) : all.size());
        choice.bind(kernel, id, {}, std::move(all));
      } else if (isFree(kernel, given, id)) {
        choice.bind(kernel, id, {}, {kernel.loops[id].trip.min});
      }
    }
    return choice;
  }

  const Kernel &kernel;
  const Machine &machine;
  const RunChoice &given;
  const StopFlag *stop;
  EncounterFinder finder;
  std::vector<RunChoice> choices;
  size_t longest = 0;      ///< of these
  std::vector<Pair> pairs; ///< that meet in no run so far
  std::vector<Apart> apart;
  bool hasMore = false; ///< than are looked at
};

} // namespace

void RunChoice::bind(const Kernel &kernel, RunValueId id, uint64_t number) {
  if (bindings.isSet(id)) {
    return;
  }
  const RunValue &bounds = kernel.values[id];
  number = std::min(std::max(number, bounds.min), bounds.max.value_or(UINT64_MAX));
  options.push_back(fmt::format("{}={}", kernel.nameOf(id), number));
  bindings.setValue(id, number);
}

void RunChoice::bind(const Kernel &kernel, LoopId id, EngineId engine,
                     std::vector<uint64_t> trips) {
  if (bindings.isSet(id, engine)) {
    return;
  }
  for (uint64_t &count : trips) {
    count = withinBounds(kernel.loops[id].trip, count);
  }
  std::string on = engine.valid() ? fmt::format("@{}", kernel.nameOf(engine)) : "";
  options.push_back(fmt::format("{}{}={}", kernel.nameOf(id), on, fmt::join(trips, ",")));
  bindings.set(id, std::move(trips), engine);
}

ChosenRuns chooseRuns(const Kernel &kernel, const Kernel &asked, const Machine &machine,
                      const RunChoice &given, const StopFlag *stop) {
  return RunChooser(kernel, asked, machine, given, stop).run();
}

bool mayMeetAny(const Kernel &kernel, const Machine &machine, Party party) {
  EncounterFinder finder(kernel, mostTrips);
  bool mayMeet = false;
  Encounter ignored;
  Conflicts(kernel, machine).forPairs([&](Party a, Party b) {
    for (auto [first, second] : {std::pair(a, b), {b, a}}) {
      mayMeet |= (a == party || b == party) &&
                 finder.find(first, second, ignored) != EncounterFinder::Answer::Never;
    }
    return !mayMeet;
  });
  return mayMeet;
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

std::vector<Decision> decisionsOf(const Kernel &kernel, const Bindings &given) {
  std::vector<Decision> decisions;
  for (LoopId id : kernel.loops.ids()) {
    if (kernel.loops[id].kind != LoopKind::Then || !kernel.loops[id].trip.isOpaque()) {
      continue;
    }
    if (kernel.loops[id].uniform) {
      decisions.push_back({id, {}});
      continue;
    }
    for (EngineId engine : kernel.engines.ids()) {
      decisions.push_back({id, engine});
    }
  }
  std::erase_if(decisions,
                [&](const Decision &each) { return given.isSet(each.branch, each.engine); });
  return decisions;
}

bool hasGuards(const Kernel &kernel) {
  return std::ranges::any_of(kernel.loops, [](const Loop &loop) { return loop.trip.isOpaque(); });
}

/// Calls visit(loop) for what is around an instruction, inner ones first.
template <typename Visit> static void forAround(const Kernel &kernel, InstrId instr, Visit visit) {
  for (LoopId l = kernel.instrs[instr].home; l != rootLoop; l = kernel.loops[l].parent) {
    visit(l);
  }
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
  tile.guards.resize((*kernel.tiles)[access].ownGuards().size());
  std::string whole = toString(tile);
  tile.guards.clear();
  std::string text = toString(tile);
  constexpr std::string_view word = " if ";
  bool isGuarded = whole.size() > text.size() + word.size();
  return {text, isGuarded ? whole.substr(text.size() + word.size()) : ""};
}

} // namespace tally
