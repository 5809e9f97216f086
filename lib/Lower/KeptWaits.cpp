//===- KeptWaits.cpp - Which waits stand before each instruction ----------===//
//
// Steps:  1. bucket   dependences by consumer, in text order
//         2. rank     those of one consumer by semaphore; of equal form, the one with the
//                     latest producer first
//         3. keep     a wait that no kept wait of its semaphore dominates
//         4. order    by when they are likely to be satisfied, the last one last: by where the run
//                     that each waits for comes in the sequential program
//
// The last wait goes with the instruction, so that it starts as soon as that is satisfied; those
// before it have passed by then.
//
// A consumer with very many dependences has few forms of wait (mask and counter) per semaphore, so
// that comparing with the kept ones stays cheap.
//===----------------------------------------------------------------------===//

#include "tally/Lower/KeptWaits.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <ranges>
#include <tuple>

namespace tally {
namespace {

/// Dependences by consumer: those of instruction i are order[first[i]...first[i+1]].
struct ByConsumer {
  std::vector<uint32_t> first;
  std::vector<DepId> order;

  explicit ByConsumer(const Kernel &kernel) : first(kernel.instrs.size() + 1, 0) {
    for (const Dep &dep : kernel.deps) {
      ++first[dep.consumer.value + 1];
    }
    std::partial_sum(first.begin(), first.end(), first.begin());
    order.resize(kernel.deps.size());
    std::vector<uint32_t> next = first;
    for (DepId dep : kernel.deps.ids()) {
      order[next[kernel.deps[dep].consumer.value]++] = dep;
    }
  }
};

/// A dependence and the one whose wait does its work, itself perhaps.
struct Served {
  DepId by;
  DepId dep;

  auto operator<=>(const Served &) const = default;
};

class Selector {
public:
  Selector(const Kernel &kernel, const SyncPlan &plan) : kernel(kernel), plan(plan) {}

  /// Who serves the dependences of one consumer, in text order of those that serve.
  const std::vector<Served> &select(std::vector<DepId> &deps) {
    kept.clear();
    served.clear();
    std::ranges::sort(deps, {}, [&](DepId dep) { return rank(dep); });
    for (DepId dep : deps) {
      if (plan.waits[dep].group.valid() && !neverBlocks(dep)) {
        served.push_back({serverOf(dep), dep});
      }
    }
    std::ranges::sort(served);
    return served;
  }

private:
  /// Semaphores together; stronger candidates first: no mask, small offsets, live counters, late K.
  std::tuple<GroupId, uint32_t, uint32_t, uint32_t, DepId> rank(DepId id) const {
    const Wait &w = plan.waits[id];
    uint32_t back = w.ring.valid() ? plan.rings[w.ring].iterationsBack(w.slot) : w.minus;
    uint32_t late = std::numeric_limits<uint32_t>::max() - plan.placeOf[kernel.deps[id].producer];
    uint32_t masked = w.maskLoop.valid() ? w.maskOffset + 1 : 0;
    return {w.group, masked, back, late, id};
  }

  bool neverBlocks(DepId dep) const {
    ExprId threshold = plan.waits[dep].threshold;
    return threshold.valid() && plan.exprs.isConstant(threshold, 0);
  }

  /// A kept wait that dominates the one of `dep`; if there is none, it is kept itself.
  DepId serverOf(DepId dep) {
    GroupId group = plan.waits[dep].group;
    for (DepId k : std::views::reverse(kept)) {
      if (plan.waits[k].group != group) {
        break; // semaphores stand together
      }
      if (dominates(kernel, plan, k, dep)) {
        return k;
      }
    }
    kept.push_back(dep);
    return dep;
  }

  const Kernel &kernel;
  const SyncPlan &plan;
  std::vector<DepId> kept;
  std::vector<Served> served;
};

/// Where in the sequential program the run comes that a dependence asks for, seen from its
/// consumer: for each body around the producer, outermost first, the statement in it, and by how
/// many iterations it comes earlier. Later runs compare greater.
class SequentialPlaces {
public:
  explicit SequentialPlaces(const Kernel &kernel) : kernel(kernel) {}

  std::vector<int64_t> of(const Dep &dep) const {
    std::vector<int64_t> place;
    LoopId home = kernel.instrs[dep.producer].home;
    addBodies(dep, home, place);
    if (dep.form == DistanceForm::Flat && !place.empty()) {
      place.back() -= dep.step;
    }
    place.push_back(kernel.stmts[kernel.instrs[dep.producer].block].position);
    place.push_back(dep.producer.value);
    return place;
  }

private:
  void addBodies(const Dep &dep, LoopId body, std::vector<int64_t> &place) const {
    if (body == rootLoop) {
      return;
    }
    addBodies(dep, kernel.loops[body].parent, place);
    place.push_back(kernel.stmts[kernel.loops[body].stmt].position);
    place.push_back(-kernel.distanceOn(dep, body));
  }

  const Kernel &kernel;
};

} // namespace

KeptWaits::KeptWaits(const Kernel &kernel, const SyncPlan &plan, Code &code)
    : first(kernel.instrs.size() + 1, 0) {
  ByConsumer byConsumer(kernel);
  Selector selector(kernel, plan);
  SequentialPlaces places(kernel);
  waits.reserve(kernel.deps.size());
  code.reasons.reserve(kernel.deps.size());
  std::vector<DepId> deps;
  for (InstrId instr : kernel.instrs.ids()) {
    deps.assign(byConsumer.order.begin() + byConsumer.first[instr.value],
                byConsumer.order.begin() + byConsumer.first[instr.value + 1]);
    uint32_t firstWait = static_cast<uint32_t>(waits.size());
    for (const Served &served : selector.select(deps)) {
      if (waits.size() == firstWait || waits.back().dep != served.by) {
        const Wait &wait = plan.waits[served.by];
        waits.push_back(
            {served.by, wait.group, wait.threshold, static_cast<uint32_t>(code.reasons.size()), 0});
      }
      ++waits.back().numReasons;
      code.reasons.push_back(served.dep);
    }
    if (waits.size() > firstWait + 1) {
      std::ranges::stable_sort(waits.begin() + firstWait, waits.end(), {},
                               [&](const KeptWait &w) { return places.of(kernel.deps[w.dep]); });
    }
    first[instr.value + 1] = static_cast<uint32_t>(waits.size());
  }
}

} // namespace tally
