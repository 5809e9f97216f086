//===- Joins.cpp - Producers of which each entry of an `if` runs one ------===//
//
// Steps:  1. asked    what each instruction in a branch is waited for: consumers and distances
//         2. refuse   those of which the place of a run is not told by entries of the `if`
//         3. match    those of both branches on one queue of which the same is asked
//
// Cost: linear in instructions and in dependences on those in branches, and sorting these.
//===----------------------------------------------------------------------===//

#include "tally/Sync/Joins.h"

#include "tally/Model/Pins.h"
#include "tally/Model/Regions.h"
#include "tally/Sync/Divergence.h"
#include "tally/Sync/Plan.h"
#include "tally/Sync/Split.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace tally {
namespace {

class JoinFinder {
public:
  explicit JoinFinder(const Kernel &kernel)
      : kernel(kernel), divergence(kernel), pins(pinnedSemaphores(kernel)),
        isRefused(kernel.instrs.size(), false) {
    if (hasRegions(kernel)) {
      regions = regionSyncs(kernel);
    }
  }

  IdVector<InstrId, InstrId> run() {
    collect();
    for (size_t first = 0, end = 0; first < asked.size(); first = end) {
      InstrId instr = kernel.deps[asked[first]].producer;
      while (end < asked.size() && kernel.deps[asked[end]].producer == instr) {
        ++end;
      }
      if (mayJoin(instr)) {
        match(instr, std::span(asked).subspan(first, end - first));
      }
    }
    return std::move(joined);
  }

private:
  /// In text order, so that instructions of a then-branch come before those of its else-branch.
  void collect() {
    for (DepId id : kernel.deps.ids()) {
      const Dep &dep = kernel.deps[id];
      if (!kernel.loops[kernel.instrs[dep.producer].home].isBranch()) {
        continue;
      }
      asked.push_back(id);
      bool isPlain = dep.form == DistanceForm::Vector && !dep.table.valid();
      isRefused[dep.producer] = isRefused[dep.producer] || !isPlain || isInSameIf(dep);
    }
    std::ranges::sort(asked, [&](DepId a, DepId b) {
      const Dep &first = kernel.deps[a], &second = kernel.deps[b];
      auto order = std::tuple(first.producer, first.consumer) <=>
                   std::tuple(second.producer, second.consumer);
      return order != 0 ? order < 0 : comparedBy(first, second) < 0;
    });
  }

  /// By their distances.
  int comparedBy(const Dep &a, const Dep &b) const {
    auto numbers = [](const DistanceComponent &c) { return std::pair(c.loop, c.distance); };
    std::span<const DistanceComponent> first = kernel.componentsOf(a);
    std::span<const DistanceComponent> second = kernel.componentsOf(b);
    bool isEqual = std::ranges::equal(first, second, {}, numbers, numbers);
    bool isLess = std::ranges::lexicographical_compare(first, second, {}, numbers, numbers);
    return isEqual ? 0 : isLess ? -1 : 1;
  }

  /// There, what is asked differs between the branches.
  bool isInSameIf(const Dep &dep) const {
    LoopId home = kernel.instrs[dep.producer].home;
    LoopId consumer = kernel.instrs[dep.consumer].home;
    return kernel.encloses(home, consumer) ||
           kernel.encloses(kernel.loops[home].otherBranch, consumer);
  }

  /// Whether entries of the `if` number its runs, and how it shares is not said already.
  bool mayJoin(InstrId id) const {
    const Instr &instr = kernel.instrs[id];
    bool isSaid =
        pins.contains(id) || (!regions.empty() && sharingIn(regions[instr.home]).has_value());
    return !isSaid && !isRefused[id] && !mayMix(kernel.queues[instr.queue]) &&
           !divergence.around(instr.home).valid();
  }

  /// Of instructions in then-branches of which the same is asked, the first is taken.
  void match(InstrId instr, std::span<const DepId> waits) {
    const Loop &home = kernel.loops[kernel.instrs[instr].home];
    bool isThen = home.kind == LoopKind::Then;
    LoopId then = isThen ? kernel.instrs[instr].home : home.otherBranch;
    size_t key = keyOf(then, kernel.instrs[instr].queue, waits);
    if (isThen) {
      open.emplace(key, Open{instr, waits});
      return;
    }
    auto [from, to] = open.equal_range(key);
    auto best = to;
    for (auto candidate = from; candidate != to; ++candidate) {
      bool isEarlier = best == to || candidate->second.instr < best->second.instr;
      best = isEarlier && isTwin(candidate->second, then, instr, waits) ? candidate : best;
    }
    if (best != to) {
      join(best->second.instr, instr);
      open.erase(best);
    }
  }

  /// An instruction in a then-branch that has no twin so far.
  struct Open {
    InstrId instr;
    std::span<const DepId> waits;
  };

  size_t keyOf(LoopId then, QueueId queue, std::span<const DepId> waits) const {
    size_t key = then.value;
    auto add = [&](uint64_t number) { key = (key ^ number) * 0x9e3779b97f4a7c15 + (key >> 29); };
    add(queue.value);
    for (DepId id : waits) {
      add(kernel.deps[id].consumer.value);
    }
    return key;
  }

  bool isTwin(const Open &other, LoopId then, InstrId instr, std::span<const DepId> waits) const {
    const Instr &twin = kernel.instrs[other.instr];
    return twin.home == then && twin.queue == kernel.instrs[instr].queue &&
           std::ranges::equal(other.waits, waits, [&](DepId a, DepId b) {
             const Dep &first = kernel.deps[a], &second = kernel.deps[b];
             return first.consumer == second.consumer && comparedBy(first, second) == 0;
           });
  }

  void join(InstrId a, InstrId b) {
    if (joined.empty()) {
      joined.assign(kernel.instrs.size(), InstrId());
    }
    joined[a] = b;
    joined[b] = a;
  }

  const Kernel &kernel;
  const Divergence divergence;
  const std::map<InstrId, uint32_t> pins;
  IdVector<LoopId, RegionSync> regions; ///< empty if there are none
  IdVector<InstrId, bool> isRefused;
  std::vector<DepId> asked; ///< of producers in branches; by producer, consumer and distance
  std::unordered_multimap<size_t, Open> open;
  IdVector<InstrId, InstrId> joined;
};

} // namespace

IdVector<InstrId, InstrId> findJoins(const Kernel &kernel) {
  bool hasBranches =
      std::ranges::any_of(kernel.loops, [](const Loop &loop) { return loop.isBranch(); });
  return hasBranches ? JoinFinder(kernel).run() : IdVector<InstrId, InstrId>();
}

} // namespace tally
