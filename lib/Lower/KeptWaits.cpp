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
#include <compare>
#include <limits>
#include <numeric>
#include <ranges>
#include <span>
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

/// Sorts waits by where in the sequential program the run comes that each asks for, seen from its
/// consumer: for each body around the producer, outermost first, the statement in it, and by how
/// many iterations it comes earlier. Later runs compare greater.
class SequentialOrder {
public:
  explicit SequentialOrder(const Kernel &kernel) : kernel(kernel) {}

  void sort(std::span<KeptWait> waits) {
    places.clear();
    ranked.clear();
    for (const KeptWait &wait : waits) {
      size_t first = places.size();
      addPlace(kernel.deps[wait.dep]);
      ranked.push_back({first, places.size(), wait});
    }
    std::ranges::sort(ranked, [&](const Ranked &a, const Ranked &b) {
      auto order =
          std::lexicographical_compare_three_way(at(a.first), at(a.end), at(b.first), at(b.end));
      return order != 0 ? order < 0 : a.first < b.first;
    });
    std::ranges::transform(ranked, waits.begin(), &Ranked::wait);
  }

private:
  /// A wait, and its place among `places`.
  struct Ranked {
    size_t first;
    size_t end;
    KeptWait wait;
  };

  std::vector<int64_t>::const_iterator at(size_t i) const {
    return places.begin() + static_cast<ptrdiff_t>(i);
  }

  void addPlace(const Dep &dep) {
    LoopId home = kernel.instrs[dep.producer].home;
    addBodies(dep, home);
    if (dep.form == DistanceForm::Flat && home != rootLoop) {
      places.back() -= dep.step;
    }
    places.push_back(kernel.stmts[kernel.instrs[dep.producer].block].position);
    places.push_back(dep.producer.value);
  }

  void addBodies(const Dep &dep, LoopId body) {
    if (body == rootLoop) {
      return;
    }
    addBodies(dep, kernel.loops[body].parent);
    places.push_back(kernel.stmts[kernel.loops[body].stmt].position);
    places.push_back(-kernel.distanceOn(dep, body));
  }

  const Kernel &kernel;
  std::vector<int64_t> places; ///< of those that are sorted, one after the other
  std::vector<Ranked> ranked;
};

} // namespace

KeptWaits::KeptWaits(const Kernel &kernel, const SyncPlan &plan, Code &code)
    : first(kernel.instrs.size() + 1, 0) {
  ByConsumer byConsumer(kernel);
  Selector selector(kernel, plan);
  SequentialOrder order(kernel);
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
      order.sort(std::span(waits).subspan(firstWait));
    }
    first[instr.value + 1] = static_cast<uint32_t>(waits.size());
  }
}

} // namespace tally
