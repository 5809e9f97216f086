//===- Needs.cpp - What each run of a consumer is owed --------------------===//

#include "Needs.h"

#include "Walk.h"

#include <algorithm>

namespace tally {

static uint32_t numRealLoops(const Kernel &kernel, LoopId loop) {
  uint32_t count = 0;
  for (; loop.valid(); loop = kernel.loops[loop].parent) {
    count += kernel.loops[loop].kind == LoopKind::Loop;
  }
  return count;
}

/// The distance on each common real loop, outermost first, and the inner one of an element form.
static std::vector<int64_t> distanceVector(const Kernel &kernel, const Dep &dep) {
  std::vector<int64_t> delta;
  LoopId loop =
      kernel.commonLoop(kernel.instrs[dep.producer].home, kernel.instrs[dep.consumer].home);
  for (; loop.valid(); loop = kernel.loops[loop].parent) {
    if (kernel.loops[loop].kind == LoopKind::Loop) {
      delta.push_back(kernel.distanceOn(dep, loop));
    }
  }
  std::reverse(delta.begin(), delta.end());
  if (dep.form == DistanceForm::Element) {
    delta.push_back(dep.step);
  }
  return delta;
}

/// Counts on one engine.
class NeedsVisitor {
public:
  NeedsVisitor(const Kernel &kernel, EngineId engine, Needs &needs)
      : kernel(kernel), needs(needs), history(kernel.loops.size()), entries(kernel.loops.size(), 0),
        rank(kernel.loops.size(), 0), isWatched(kernel.loops.size(), false),
        delta(kernel.deps.size()) {
    for (DepId id : kernel.deps.ids()) {
      const Dep &dep = kernel.deps[id];
      if (kernel.engineOf(dep.consumer) == engine) {
        delta[id] = distanceVector(kernel, dep);
        LoopId home = kernel.instrs[dep.producer].home;
        isWatched[home] = true;
        rank[home] = numRealLoops(kernel, home);
      }
    }
  }

  void enter(LoopId loop, uint64_t iteration, uint64_t) {
    if (kernel.loops[loop].kind == LoopKind::Loop) {
      vector.push_back(static_cast<uint32_t>(iteration));
    }
    ++entries[loop];
    if (isWatched[loop]) {
      history[loop].insert(history[loop].end(), vector.begin(), vector.end());
    }
  }

  void leave(LoopId loop) {
    if (kernel.loops[loop].kind == LoopKind::Loop) {
      vector.pop_back();
    }
  }

  void instr(InstrId id) {
    for (DepId dep : needs.byConsumer[id]) {
      needs.runs[dep].push_back(count(dep));
    }
  }

private:
  uint32_t count(DepId id) const {
    const Dep &dep = kernel.deps[id];
    if (dep.form == DistanceForm::Flat) {
      uint64_t run = entries[kernel.instrs[dep.consumer].home];
      uint64_t step = static_cast<uint64_t>(dep.step);
      return static_cast<uint32_t>(run > step ? run - step : 0);
    }
    std::vector<int64_t> target(delta[id].size());
    for (size_t j = 0; j < target.size(); ++j) {
      target[j] = int64_t(vector[j]) - delta[id][j];
      if (target[j] <= 0) {
        return 0;
      }
    }
    return countUpTo(kernel.instrs[dep.producer].home, target);
  }

  /// Entries of `home` so far whose first components are at most `target`.
  uint32_t countUpTo(LoopId home, const std::vector<int64_t> &target) const {
    uint64_t low = 0, high = entries[home];
    while (low < high) {
      uint64_t middle = (low + high) / 2;
      const uint32_t *entry = history[home].data() + middle * rank[home];
      bool isOwed =
          !std::lexicographical_compare(target.begin(), target.end(), entry, entry + target.size());
      (isOwed ? low : high) = isOwed ? middle + 1 : middle;
    }
    return static_cast<uint32_t>(low);
  }

  const Kernel &kernel;
  Needs &needs;
  IdVector<LoopId, std::vector<uint32_t>> history; ///< vectors of all entries, one after the other
  IdVector<LoopId, uint64_t> entries;
  IdVector<LoopId, uint32_t> rank; ///< length of the vectors
  IdVector<LoopId, bool> isWatched;
  IdVector<DepId, std::vector<int64_t>> delta;
  std::vector<uint32_t> vector; ///< of the body being walked
};

Needs::Needs(const Kernel &kernel, const Bindings &bindings, uint64_t maxSteps)
    : byConsumer(kernel.instrs.size()), runs(kernel.deps.size()) {
  for (DepId dep : kernel.deps.ids()) {
    byConsumer[kernel.deps[dep].consumer].push_back(dep);
  }
  uint64_t fuel = maxSteps;
  for (EngineId engine : kernel.engines.ids()) {
    NeedsVisitor visitor(kernel, engine, *this);
    isComplete &= Walk(kernel, bindings, engine, visitor, fuel).run();
  }
}

} // namespace tally
