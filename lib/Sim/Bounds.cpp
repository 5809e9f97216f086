//===- Bounds.cpp - The time below which no code of a kernel can come ------===//

#include "tally/Sim/Bounds.h"

#include "tally/Run/Owed.h"
#include "tally/Support/Counted.h"

#include <fmt/format.h>

namespace tally {

namespace {

/// What is worked off one after the other. Some run is the first, and waits for its startup; and
/// some run is the last, which need not leave room for another one, but has to finish.
class Work {
public:
  void add(const InstrCost &cost, uint64_t runs) {
    if (runs > 0) {
      Tick rest = cost.isTransfer ? cost.interval + cost.duration : cost.duration;
      intervals += cost.interval * runs;
      startup = std::min(startup, cost.startup);
      ending = std::min(ending, static_cast<int64_t>(rest) - static_cast<int64_t>(cost.interval));
    }
  }

  Tick total() const {
    return startup == none ? 0 : startup + intervals + static_cast<Tick>(ending);
  }

private:
  static constexpr Tick none = UINT64_MAX;
  Tick startup = none; ///< of the first run, at least
  Tick intervals = 0;
  int64_t ending = INT64_MAX; ///< finish of the last run after its interval, at least
};

/// When each run has finished, if only the values that it reads hold it up.
class Chains {
public:
  Chains(const Kernel &kernel, const InstrCosts &costs, const Owed &owed)
      : kernel(kernel), costs(costs), owed(owed), finish(kernel.instrs.size()) {
    for (InstrId instr : kernel.instrs.ids()) {
      finish[instr].assign(owed.numRuns(instr), unknown);
    }
  }

  Tick longest() {
    Tick last = 0;
    for (InstrId instr : kernel.instrs.ids()) {
      for (uint32_t run = 0; run < finish[instr].size(); ++run) {
        last = std::max(last, finishOf({instr, run}));
      }
    }
    return last;
  }

private:
  static constexpr Tick unknown = UINT64_MAX;
  static constexpr Tick isOpen = unknown - 1; ///< what it depends on is being found

  /// Those it depends on come first.
  Tick finishOf(Instance instance) {
    open.push_back(instance);
    while (!open.empty()) {
      Instance last = open.back();
      Tick &end = finish[last.instr][last.run];
      if (end < isOpen) {
        open.pop_back();
      } else if (std::optional<Tick> begin = readyAt(last)) {
        end = *begin + spanOf(last.instr);
        open.pop_back();
      } else {
        end = isOpen;
      }
    }
    return finish[instance.instr][instance.run];
  }

  /// When all that a run reads is there; nothing if one of these runs is not known yet, which then
  /// is the next to be found. Where engines disagree on trips, a run may wait for one that never
  /// is, or for itself: then nothing ends, and any floor is right.
  std::optional<Tick> readyAt(Instance consumer) {
    Tick ready = 0;
    bool isKnown = true;
    for (DepId id : owed.depsOf(consumer.instr)) {
      const Dep &dep = kernel.deps[id];
      if (dep.kind != DepKind::RAW) {
        continue;
      }
      const std::vector<Tick> &ends = finish[dep.producer];
      uint32_t count = std::min(owed.of(id, consumer.run), static_cast<uint32_t>(ends.size()));
      Tick end = count == 0 ? isOpen : ends[count - 1];
      if (end == unknown) {
        open.push_back({dep.producer, count - 1});
        isKnown = false;
      } else if (end != isOpen) {
        ready = std::max(ready, end);
      }
    }
    return isKnown ? std::optional(ready) : std::nullopt;
  }

  Tick spanOf(InstrId instr) const {
    const InstrCost &cost = costs[instr];
    return cost.startup + (cost.isTransfer ? cost.interval : 0) + cost.duration;
  }

  const Kernel &kernel;
  const InstrCosts &costs;
  const Owed &owed;
  IdVector<InstrId, std::vector<Tick>> finish;
  std::vector<Instance> open;
};

} // namespace

std::optional<Floor> floorOf(const Kernel &kernel, const InstrCosts &costs,
                             const Bindings &bindings, Fuel fuel) {
  Owed owed(kernel, bindings, fuel);
  if (!owed.complete()) {
    return std::nullopt;
  }
  IdVector<QueueId, Work> works(kernel.queues.size(), Work());
  Work transfers;
  for (InstrId instr : kernel.instrs.ids()) {
    (costs[instr].isTransfer ? transfers : works[kernel.instrs[instr].queue])
        .add(costs[instr], owed.numRuns(instr));
  }
  Floor floor{Chains(kernel, costs, owed).longest(), Floor::By::Dependences, {}};
  if (transfers.total() > floor.total) {
    floor = {transfers.total(), Floor::By::Bandwidth, {}};
  }
  for (QueueId queue : kernel.queues.ids()) {
    if (works[queue].total() > floor.total) {
      floor = {works[queue].total(), Floor::By::Queue, queue};
    }
  }
  return floor;
}

std::string describe(const Kernel &kernel, const Floor &floor) {
  if (floor.total == 0) {
    return "nothing runs";
  }
  switch (floor.by) {
  case Floor::By::Queue:
    return fmt::format("queue '{}' works without a pause", kernel.nameOf(floor.queue));
  case Floor::By::Bandwidth:
    return "transfers use the whole bandwidth all the time";
  case Floor::By::Dependences:
    break;
  }
  return "a chain of runs, each of which reads what the one before it has written";
}

std::string describeIdeal(const TimeBounds &bounds) {
  std::string keeps =
      "keeps the order of instructions and what loops cost; nothing that synchronises takes time";
  return bounds.numInexact == 0
             ? keeps
             : fmt::format("{}; {} {} no exact wait, so this is not quite the bound", keeps,
                           counted(bounds.numInexact, "dependence"),
                           bounds.numInexact == 1 ? "has" : "have");
}

std::string describeFloor(const Kernel &kernel, const Floor &floor) {
  return "keeps only engines, bandwidth and true dependences: " + describe(kernel, floor);
}

} // namespace tally
