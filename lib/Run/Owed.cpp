//===- Owed.cpp - What each run of a consumer is owed ---------------------===//

#include "tally/Run/Owed.h"

#include "tally/Model/RunNumbers.h"

#include "tally/Run/KernelCursor.h"

#include <algorithm>

namespace tally {

static std::vector<int64_t> distanceVector(const Kernel &kernel, const Dep &dep) {
  std::vector<int64_t> distances;
  for (LoopId loop : kernel.realLoops(kernel.sharedBody(dep))) {
    distances.push_back(kernel.distanceOn(dep, loop));
  }
  return distances;
}

History::History(const Kernel &kernel, EngineId engine)
    : kernel(kernel), bodies(kernel.loops.size()), distances(kernel.deps.size()) {
  for (DepId id : kernel.deps.ids()) {
    const Dep &dep = kernel.deps[id];
    if (kernel.engineOf(dep.consumer) == engine) {
      distances[id] = distanceVector(kernel, dep);
      if (dep.form == DistanceForm::Element) {
        nests.emplace(id.value, *sideBySide(kernel, dep));
      }
      bodies[kernel.instrs[dep.producer].home].isWatched = true;
    }
  }
}

void History::enter(LoopId body, std::span<const uint32_t> iterations) {
  Body &entered = bodies[body];
  ++entered.entries;
  if (entered.isWatched) {
    entered.rank = static_cast<uint32_t>(iterations.size());
    entered.vectors.insert(entered.vectors.end(), iterations.begin(), iterations.end());
  }
}

/// How many entries have a vector that begins with something <= target.
uint32_t History::upTo(const Body &body, std::span<const int64_t> target) const {
  uint32_t low = 0;
  uint32_t high = body.entries;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    const uint32_t *vector = body.vectors.data() + size_t(middle) * body.rank;
    bool isBeyond =
        std::lexicographical_compare(target.begin(), target.end(), vector, vector + target.size());
    (isBeyond ? high : low) = isBeyond ? middle : middle + 1;
  }
  return low;
}

/// Of an element form: the run of the producer's nest that is owed, by the iterations of its loops.
/// False if it lies before the first one.
bool History::addRunOf(DepId dep, std::span<const uint32_t> iterations,
                       std::vector<int64_t> &target) const {
  const auto &[producer, consumer] = nests.at(dep.value);
  std::vector<int64_t> inner(iterations.begin() + static_cast<ptrdiff_t>(target.size()),
                             iterations.end());
  std::ranges::for_each(inner, [](int64_t &iteration) { --iteration; });
  int64_t number = consumer.numberOf(std::span<const int64_t>(inner));
  int64_t run = kernel.runNeeded(kernel.deps[dep], number);
  for (size_t level = 0; level < producer.loops().size() && run >= 0; ++level) {
    target.push_back(1 + producer.iterationOf(run, level));
  }
  return run >= 0;
}

uint32_t History::owed(DepId id, std::span<const uint32_t> iterations) const {
  const Dep &dep = kernel.deps[id];
  const Body &body = bodies[kernel.instrs[dep.producer].home];
  if (dep.form == DistanceForm::Flat) {
    return static_cast<uint32_t>(std::max<int64_t>(0, int64_t(body.entries) - dep.step));
  }
  std::vector<int64_t> target(distances[id].size());
  for (size_t j = 0; j < target.size(); ++j) {
    target[j] = int64_t(iterations[j]) - distances[id][j];
    if (target[j] <= 0) {
      return 0;
    }
  }
  bool isOwed = dep.form != DistanceForm::Element || addRunOf(id, iterations, target);
  return isOwed ? upTo(body, target) : 0;
}

Owed::Owed(const Kernel &kernel, const IdVector<DepId, bool> &never)
    : byConsumer(kernel.instrs.size()), runs(kernel.deps.size()), vectors(kernel.instrs.size()) {
  for (DepId dep : kernel.deps.ids()) {
    if (never.empty() || !never[dep]) {
      byConsumer[kernel.deps[dep].consumer].push_back(dep);
    }
  }
}

Instance Owed::addRun(InstrId instr, const History &history,
                      const std::vector<uint32_t> &iterations) {
  for (DepId dep : byConsumer[instr]) {
    runs[dep].push_back(history.owed(dep, iterations));
  }
  Vectors &of = vectors[instr];
  of.rank = static_cast<uint32_t>(iterations.size());
  of.all.insert(of.all.end(), iterations.begin(), iterations.end());
  return {instr, of.numRuns++};
}

Owed::Owed(const Kernel &kernel, const Bindings &bindings, Fuel fuel) : Owed(kernel) {
  using Stop = KernelCursor::Stop;
  for (EngineId engine : kernel.engines.ids()) {
    History history(kernel, engine);
    KernelCursor cursor(kernel, bindings, engine, fuel);
    for (Stop at = cursor.next(); at != Stop::End; at = cursor.next()) {
      if (at == Stop::Enter) {
        history.enter(cursor.body(), cursor.iterations());
      } else if (at == Stop::Instr) {
        addRun(cursor.instr(), history, cursor.iterations());
        cursor.spend(effort(cursor.instr(), cursor.iterations().size()));
      }
    }
    isComplete &= !cursor.isCutOff();
  }
}

} // namespace tally
