//===- Waits.cpp - Which waits stand before each instruction --------------===//
//
// Steps:  1. bucket   dependences by consumer, in text order
//         2. rank     those of one consumer by semaphore; of equal form, the one with the
//                     latest producer first
//         3. keep     a wait that no kept wait of its semaphore dominates
//
// A consumer with very many dependences has few forms of wait (mask and counter) per semaphore, so
// that comparing with the kept ones stays cheap.
//===----------------------------------------------------------------------===//

#include "Waits.h"

#include <algorithm>
#include <limits>
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
    for (size_t i = 1; i < first.size(); ++i) {
      first[i] += first[i - 1];
    }
    order.resize(kernel.deps.size());
    std::vector<uint32_t> next = first;
    for (DepId dep : kernel.deps.ids()) {
      order[next[kernel.deps[dep].consumer.value]++] = dep;
    }
  }
};

/// The waits of one consumer, built up.
struct Kept {
  DepId dep;
  std::vector<DepId> reasons;
};

class Selector {
public:
  Selector(const Kernel &kernel, const SyncPlan &plan) : kernel(kernel), plan(plan) {}

  /// The waits that must stand for `deps` of one consumer, in text order.
  std::vector<Kept> &select(std::vector<DepId> &deps) {
    kept.clear();
    std::sort(deps.begin(), deps.end(), [&](DepId a, DepId b) { return rank(a) < rank(b); });
    for (DepId dep : deps) {
      if (plan.waits[dep].group.valid() && !neverBlocks(dep)) {
        place(dep);
      }
    }
    for (Kept &k : kept) {
      std::sort(k.reasons.begin(), k.reasons.end());
    }
    std::sort(kept.begin(), kept.end(), [](const Kept &a, const Kept &b) { return a.dep < b.dep; });
    return kept;
  }

private:
  /// Semaphores together; stronger candidates first: no mask, small offsets, live counters, late K.
  std::tuple<GroupId, uint32_t, uint32_t, uint32_t, DepId> rank(DepId id) const {
    const Wait &w = plan.waits[id];
    uint32_t back = w.ring.valid() ? w.slot : w.minus;
    uint32_t late = std::numeric_limits<uint32_t>::max() - plan.placeOf[kernel.deps[id].producer];
    uint32_t masked = w.maskLoop.valid() ? w.maskOffset + 1 : 0;
    return {w.group, masked, back, late, id};
  }

  bool neverBlocks(DepId dep) const {
    ExprId threshold = plan.waits[dep].threshold;
    return threshold.valid() && plan.exprs.isConstant(threshold, 0);
  }

  void place(DepId dep) {
    GroupId group = plan.waits[dep].group;
    for (Kept &k : std::views::reverse(kept)) {
      if (plan.waits[k.dep].group != group) {
        break; // semaphores stand together
      }
      if (dominates(kernel, plan, k.dep, dep)) {
        k.reasons.push_back(dep);
        return;
      }
    }
    kept.push_back({dep, {dep}});
  }

  const Kernel &kernel;
  const SyncPlan &plan;
  std::vector<Kept> kept;
};

} // namespace

KeptWaits::KeptWaits(const Kernel &kernel, const SyncPlan &plan, Program &program)
    : first(kernel.instrs.size() + 1, 0) {
  ByConsumer byConsumer(kernel);
  Selector selector(kernel, plan);
  waits.reserve(kernel.deps.size());
  program.reasons.reserve(kernel.deps.size());
  std::vector<DepId> deps;
  for (InstrId instr : kernel.instrs.ids()) {
    if (byConsumer.first[instr.value] == byConsumer.first[instr.value + 1]) {
      first[instr.value + 1] = static_cast<uint32_t>(waits.size());
      continue;
    }
    deps.assign(byConsumer.order.begin() + byConsumer.first[instr.value],
                byConsumer.order.begin() + byConsumer.first[instr.value + 1]);
    for (const Kept &kept : selector.select(deps)) {
      const Wait &wait = plan.waits[kept.dep];
      waits.push_back({kept.dep, wait.group, wait.threshold,
                       static_cast<uint32_t>(program.reasons.size()),
                       static_cast<uint32_t>(kept.reasons.size())});
      program.reasons.insert(program.reasons.end(), kept.reasons.begin(), kept.reasons.end());
    }
    first[instr.value + 1] = static_cast<uint32_t>(waits.size());
  }
}

} // namespace tally
