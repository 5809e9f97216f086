//===- Instances.cpp - All trips within bounds ----------------------------===//
//
// A choice of trips is a sequence of decisions, made in the order in which the engines meet the
// loops; how many there are depends on the earlier ones. Walking the kernel with the first
// decisions given and 0 for the others makes the next choice; to go on, the last decision that can
// be raised is raised and all after it are forgotten. That is a walk over a tree of decisions,
// depth first.
//
// What a decision may be: all numbers up to --max-trips, around distances, and around what decides
// about branches; and for values, and loops around others, what lets loops with formulas run so
// often (Carried.h).
//
//===----------------------------------------------------------------------===//

#include "tally/Check/Explore.h"

#include "Carried.h"

#include "tally/Model/RunNumbers.h"
#include "tally/Model/Tiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace tally {

using namespace check;

namespace {

/// Larger counts make no instance that anybody could explore; nor do more entries of loops.
constexpr uint64_t maxCountOffered = 4096;
constexpr uint64_t maxEntries = 1'000'000;

/// Steps of the walks that look for what lets one loop run so often.
constexpr uint64_t maxCarried = 100'000;

} // namespace

Instances::Instances(const Kernel &kernel, const InstanceOptions &options, Bindings given)
    : kernel(kernel), options(options), given(std::move(given)), counts(kernel.loops.size()) {
  for (LoopId l : kernel.loops.ids()) {
    counts[l] = optionsOf(l);
  }
  for (const RunValue &value : kernel.values) {
    numbers.push(offered(value.min, value.max, value.loop));
  }
  offerCarried();
}

/// The last run at which a table begins to ask, or asks for more for the first time.
static int64_t farthestIn(const RunTable &table) {
  int64_t last = table.firstNeeding().value_or(0);
  for (const RunTable::Step &step : table.steps()) {
    last = std::max(last, step.at);
  }
  return last;
}

/// Of how many iterations of the loop. Of a nest beside another, runs are counted; its outermost
/// loop is the one that decides how many there are.
static int64_t distanceOn(const Kernel &kernel, const Dep &dep, LoopId loop) {
  if (dep.form == DistanceForm::Flat) {
    return dep.step;
  }
  LoopId consumer = kernel.instrs[dep.consumer].home;
  LoopId shared = kernel.sharedBody(dep);
  if (dep.form != DistanceForm::Element || kernel.loops[loop].parent != shared ||
      !kernel.encloses(loop, consumer)) {
    return kernel.distanceOn(dep, loop);
  }
  auto runs =
      static_cast<int64_t>(RunNumbers::below(kernel, shared, consumer)->runsPerIteration(0));
  int64_t step = dep.table.valid() ? farthestIn(kernel.tables[dep.table]) : dep.step;
  return std::max<int64_t>(step, 0) / runs + (step % runs > 0 ? 1 : 0);
}

/// Of one form, or of any.
static uint64_t longestDistance(const Kernel &kernel, LoopId loop, std::optional<bool> wantsFlat) {
  int64_t longest = 0;
  for (const Dep &dep : kernel.deps) {
    bool isFlat = dep.form == DistanceForm::Flat;
    bool isOf = isFlat ? kernel.instrs[dep.producer].home == loop : true;
    if (isOf && isFlat == wantsFlat.value_or(isFlat)) {
      longest = std::max(longest, distanceOn(kernel, dep, loop));
    }
  }
  return static_cast<uint64_t>(longest);
}

uint64_t longestDistance(const Kernel &kernel, LoopId loop) {
  return longestDistance(kernel, loop, std::nullopt);
}

/// One less, as many, one more.
static void addAround(uint64_t count, std::set<uint64_t> &all) {
  all.insert({count - std::min<uint64_t>(count, 1), count, count + 1});
}

/// Adds them, in order.
static void offer(const std::set<uint64_t> &more, std::vector<uint64_t> &all) {
  std::set<uint64_t> both(all.begin(), all.end());
  both.insert(more.begin(), more.end());
  all.assign(both.begin(), both.end());
}

/// Numbers in conditions, with the loops and values that are compared with them.
struct ComparedNumbers {
  IdVector<LoopId, std::set<uint64_t>> trips; ///< that let iterations come there
  IdVector<RunValueId, std::set<uint64_t>> values;
};

static ComparedNumbers comparedIn(const Kernel &kernel) {
  ComparedNumbers all;
  all.trips.resize(kernel.loops.size());
  all.values.resize(kernel.values.size());
  for (LoopId id : kernel.loops.ids()) {
    if (kernel.loops[id].kind != LoopKind::Then || !kernel.loops[id].trip.condition.valid()) {
      continue;
    }
    const BodyTile &condition = kernel.tiles->conditionOf(id);
    std::set<uint64_t> numbers;
    for (const TileExpr &node : condition.access.exprs) {
      uint64_t number = static_cast<uint64_t>(std::abs(std::max(node.value, -INT64_MAX)));
      if (node.kind == TileExpr::Kind::Constant && number < maxCountOffered) {
        addAround(number + 1, numbers);
      }
    }
    for (const TileExpr &node : condition.access.exprs) {
      if (node.kind == TileExpr::Kind::Loop) {
        all.trips[condition.loopOf(node)].insert(numbers.begin(), numbers.end());
      } else if (node.kind == TileExpr::Kind::Symbol && condition.valueOf(node).valid()) {
        all.values[condition.valueOf(node)].insert(numbers.begin(), numbers.end());
      }
    }
  }
  return all;
}

static void keepWithin(uint64_t least, std::optional<uint64_t> most, std::set<uint64_t> &numbers) {
  std::erase_if(numbers, [&](uint64_t number) {
    return number < least || number > most.value_or(maxCountOffered);
  });
}

/// Trips of a loop with a formula, and entries of a body whose distances go over the whole run; the
/// loop of such a body may have all of them by itself.
void Instances::offerCarried() {
  Carried carried(kernel);
  ComparedNumbers compared = options.distances ? comparedIn(kernel) : ComparedNumbers{};
  for (LoopId id : kernel.loops.ids()) {
    const Loop &loop = kernel.loops[id];
    Wanted wanted;
    uint64_t flat = options.distances ? longestDistance(kernel, id, true) : 0;
    bool isFree = loop.kind == LoopKind::Loop && counts[id].size() > 1;
    if (flat != 0 && !(isFree && loop.trip.most().value_or(flat + 1) > flat)) {
      wanted.entries = {flat, flat + 1};
    }
    if (loop.trip.kind == Trip::Kind::Formula) {
      for (uint64_t count = 0; count <= std::min(options.maxTrips, maxCountOffered); ++count) {
        wanted.trips.insert(count);
      }
      if (options.distances) {
        addAround(longestDistance(kernel, id, false), wanted.trips);
        wanted.trips.merge(compared.trips[id]);
      }
    } else if (isFree && options.distances) {
      keepWithin(loop.trip.min, loop.trip.max, compared.trips[id]);
      offer(compared.trips[id], counts[id]);
    }
    if (!wanted.entries.empty() || !wanted.trips.empty()) {
      carryBack(kernel, id, wanted, maxCountOffered, maxCarried, carried);
    }
  }
  for (LoopId id : kernel.loops.ids()) {
    offer(carried.trips[id], counts[id]);
  }
  for (RunValueId id : kernel.values.ids()) {
    offer(carried.values[id], numbers[id]);
    if (options.distances) {
      keepWithin(kernel.values[id].min, kernel.values[id].max, compared.values[id]);
      offer(compared.values[id], numbers[id]);
    }
  }
}

std::vector<uint64_t> Instances::optionsOf(LoopId id) const {
  const Loop &loop = kernel.loops[id];
  if (loop.trip.kind == Trip::Kind::Formula || loop.trip.condition.valid()) {
    return {}; // what it does follows
  }
  if (loop.isBranch()) {
    return {0, 1};
  }
  if (loop.trip.kind == Trip::Kind::Constant) {
    return {loop.trip.constant};
  }
  return offered(loop.trip.kind == Trip::Kind::Value ? loop.trip.min : 0, loop.trip.max, id);
}

/// Numbers within bounds that are interesting for a loop.
std::vector<uint64_t> Instances::offered(uint64_t least, std::optional<uint64_t> most,
                                         LoopId id) const {
  std::set<uint64_t> all;
  auto offer = [&](uint64_t count) {
    if (count >= least && count <= most.value_or(maxCountOffered)) {
      all.insert(count);
    }
  };
  for (uint64_t count = 0; count <= std::min(options.maxTrips, maxCountOffered); ++count) {
    offer(count);
  }
  if (options.distances) {
    std::set<uint64_t> around;
    addAround(longestDistance(kernel, id), around);
    std::ranges::for_each(around, offer);
  }
  return all.empty() ? std::vector{least} : std::vector(all.begin(), all.end());
}

/// Walks all engines with the decisions so far, adding what is missing.
class InstanceWalk {
public:
  explicit InstanceWalk(Instances &instances)
      : instances(instances), kernel(instances.kernel), bindings(instances.given),
        iteration(kernel.loops.size(), 0) {}

  /// None if there are too many entries.
  std::optional<TripChoice> run() {
    TripChoice choice;
    for (RunValueId id : kernel.values.ids()) {
      if (instances.given.isSet(id)) {
        continue;
      }
      uint64_t number = instances.numbers[id][nextDecision(instances.numbers[id].size())];
      bindings.setValue(id, number);
      choice.push_back({kernel.values[id].loop, {}, {number}, id});
    }
    for (EngineId e : kernel.engines.ids()) {
      engine = e;
      reached.assign(kernel.loops.size(), 0);
      body(rootLoop);
    }
    if (entries > maxEntries) {
      return {};
    }
    for (auto &[key, trips] : made) {
      LoopId loop = key.first;
      if (instances.counts[loop].size() > 1 ||
          kernel.loops[loop].trip.kind != Trip::Kind::Constant) {
        choice.push_back({loop, key.second, trips, {}});
      }
    }
    return choice;
  }

private:
  void body(LoopId loop) {
    for (StmtId s : kernel.loops[loop].body) {
      const Stmt &stmt = kernel.stmts[s];
      if (stmt.kind == Stmt::Kind::Block) {
        continue;
      }
      uint64_t trips = decide(stmt.loop);
      for (uint64_t i = 0; i < trips && ++entries <= maxEntries; ++i) {
        iteration[stmt.loop] = i;
        body(stmt.loop);
      }
      if (stmt.kind == Stmt::Kind::If && trips == 0) {
        body(kernel.loops[stmt.loop].otherBranch);
      }
    }
  }

  /// Engines that agree decide once.
  uint64_t decide(LoopId loop) {
    const Trip &trip = kernel.loops[loop].trip;
    if (trip.kind == Trip::Kind::Formula || trip.condition.valid()) {
      return bindings.trips(engine, loop, 1, [&](LoopId around) { return iteration[around]; });
    }
    uint64_t entry = reached[loop]++;
    if (instances.given.isSet(loop, engine)) {
      return instances.given.trips(engine, loop, entry + 1);
    }
    EngineId who = kernel.loops[loop].uniform ? EngineId() : engine;
    std::vector<uint64_t> &trips = made[{loop, who}];
    if (entry == trips.size()) {
      trips.push_back(instances.counts[loop][nextDecision(instances.counts[loop].size())]);
    }
    return trips[entry];
  }

  uint32_t nextDecision(size_t numChoices) {
    if (at == instances.decisions.size()) {
      instances.decisions.push_back({0, static_cast<uint32_t>(numChoices)});
    }
    return instances.decisions[at++].chosen;
  }

  Instances &instances;
  const Kernel &kernel;
  Bindings bindings; ///< of the values, and what is given
  EngineId engine;
  IdVector<LoopId, uint64_t> reached;
  IdVector<LoopId, uint64_t> iteration;
  std::map<std::pair<LoopId, EngineId>, std::vector<uint64_t>> made;
  size_t at = 0;
  uint64_t entries = 0;
};

std::optional<TripChoice> Instances::next() {
  if (numReturned > 0) {
    while (!decisions.empty() && decisions.back().chosen + 1 == decisions.back().numChoices) {
      decisions.pop_back();
    }
    if (decisions.empty()) {
      return {};
    }
    ++decisions.back().chosen;
  }
  if (numReturned == options.maxInstances) {
    isCutOff = true;
    return {};
  }
  ++numReturned;
  std::optional<TripChoice> choice = InstanceWalk(*this).run();
  isCutOff = !choice;
  return choice;
}

Bindings bindTrips(Bindings bindings, const TripChoice &choice) {
  for (const InstanceTrips &trips : choice) {
    if (trips.value.valid()) {
      bindings.setValue(trips.value, trips.trips[0]);
    } else {
      bindings.set(trips.loop, trips.trips, trips.engine);
    }
  }
  return bindings;
}

std::vector<std::string> tripsText(const Kernel &kernel, const TripChoice &choice) {
  std::vector<std::string> text;
  for (const InstanceTrips &trips : choice) {
    text.push_back(fmt::format(
        "{}{}={}", trips.value.valid() ? kernel.nameOf(trips.value) : kernel.nameOf(trips.loop),
        trips.engine.valid() ? fmt::format("@{}", kernel.nameOf(trips.engine)) : std::string(),
        fmt::join(trips.trips, ",")));
  }
  return text;
}

} // namespace tally
