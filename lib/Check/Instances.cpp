//===- Instances.cpp - All trips within bounds ----------------------------===//
//
// A choice of trips is a sequence of decisions, made in the order in which the engines meet the
// loops; how many there are depends on the earlier ones. Walking the kernel with the first
// decisions given and 0 for the others makes the next choice; to go on, the last decision that can
// be raised is raised and all behind it are forgotten. That is a walk over a tree of decisions,
// depth first.
//
//===----------------------------------------------------------------------===//

#include "tally/Check/Explore.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace tally {

namespace {

/// Larger counts make no instance that anybody could explore; nor do more entries of loops.
constexpr uint64_t maxCountOffered = 4096;
constexpr uint64_t maxEntries = 1'000'000;

} // namespace

Instances::Instances(const Kernel &kernel, const InstanceOptions &options)
    : kernel(kernel), options(options), counts(kernel.loops.size()) {
  for (LoopId l : kernel.loops.ids()) {
    counts[l] = optionsOf(l);
  }
  for (const RunValue &value : kernel.values) {
    numbers.push(offered(value.min, value.max, value.loop));
  }
}

uint64_t longestDistance(const Kernel &kernel, LoopId loop) {
  int64_t longest = 0;
  for (const Dep &dep : kernel.deps) {
    bool flat = dep.form == DistanceForm::Flat && kernel.instrs[dep.producer].home == loop;
    int64_t distance = flat ? dep.step : kernel.distanceOn(dep, loop);
    longest = std::max(longest, distance);
  }
  return static_cast<uint64_t>(longest);
}

std::vector<uint64_t> Instances::optionsOf(LoopId id) const {
  const Loop &loop = kernel.loops[id];
  if (loop.isBranch()) {
    return {0, 1};
  }
  if (loop.trip.kind == Trip::Kind::Constant) {
    return {loop.trip.constant};
  }
  if (loop.trip.kind == Trip::Kind::Formula) {
    return {}; // what it does follows
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
    uint64_t distance = longestDistance(kernel, id);
    for (uint64_t count = distance - std::min<uint64_t>(distance, 1); count <= distance + 1;
         ++count) {
      offer(count);
    }
  }
  return all.empty() ? std::vector{least} : std::vector(all.begin(), all.end());
}

/// Walks all engines with the decisions so far, adding what is missing.
class InstanceWalk {
public:
  explicit InstanceWalk(Instances &instances)
      : instances(instances), kernel(instances.kernel), bindings(kernel),
        iteration(kernel.loops.size(), 0) {}

  /// None if there are too many entries.
  std::optional<TripChoice> run() {
    TripChoice choice;
    for (RunValueId id : kernel.values.ids()) {
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
    if (kernel.loops[loop].trip.kind == Trip::Kind::Formula) {
      return bindings.trips(engine, loop, 1, [&](LoopId around) { return iteration[around]; });
    }
    EngineId who = kernel.loops[loop].uniform ? EngineId() : engine;
    std::vector<uint64_t> &trips = made[{loop, who}];
    uint64_t entry = reached[loop]++;
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
  Bindings bindings; ///< of the values
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

Bindings bindTrips(const Kernel &kernel, const TripChoice &choice) {
  Bindings bindings(kernel);
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
