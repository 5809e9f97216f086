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
#include <set>
#include <tuple>
#include <vector>

namespace tally {
namespace {

/// One wait for an instruction: by whom, and at which distance.
struct Asked {
  uint32_t consumer = 0;
  std::vector<std::pair<uint32_t, int64_t>> distance; ///< by loop

  auto operator<=>(const Asked &) const = default;
};

class JoinFinder {
public:
  explicit JoinFinder(const Kernel &kernel)
      : kernel(kernel), divergence(kernel), pins(pinnedSemaphores(kernel)) {
    if (hasRegions(kernel)) {
      regions = regionSyncs(kernel);
    }
  }

  IdVector<InstrId, InstrId> run() {
    collect();
    std::map<Alike, std::vector<InstrId>> open; // not matched so far, in text order
    for (auto &[instr, waits] : asked) {
      if (!mayJoin(instr)) {
        continue;
      }
      std::ranges::sort(waits);
      waits.erase(std::ranges::unique(waits).begin(), waits.end());
      LoopId home = kernel.instrs[instr].home;
      uint32_t queue = kernel.instrs[instr].queue.value;
      if (kernel.loops[home].kind == LoopKind::Then) {
        open[{home.value, queue, waits}].push_back(instr);
        continue;
      }
      auto alike = open.find({kernel.loops[home].otherBranch.value, queue, waits});
      if (alike != open.end() && !alike->second.empty()) {
        join(alike->second.front(), instr);
        alike->second.erase(alike->second.begin());
      }
    }
    return std::move(joined);
  }

private:
  /// Branch, queue, and what is asked.
  using Alike = std::tuple<uint32_t, uint32_t, std::vector<Asked>>;

  /// Instructions come in text order, so those of a then-branch before those of its else-branch.
  void collect() {
    for (const Dep &dep : kernel.deps) {
      if (!kernel.loops[kernel.instrs[dep.producer].home].isBranch()) {
        continue;
      }
      Asked wait{dep.consumer.value, {}};
      for (const DistanceComponent &c : kernel.componentsOf(dep)) {
        wait.distance.emplace_back(c.loop.value, c.distance);
      }
      asked[dep.producer].push_back(std::move(wait));
      bool isPlain = dep.form == DistanceForm::Vector && !dep.table.valid();
      if (!isPlain || isInSameIf(dep)) {
        refused.insert(dep.producer);
      }
    }
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
    return !isSaid && !refused.contains(id) && !mayMix(kernel.queues[instr.queue]) &&
           !divergence.around(instr.home).valid();
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
  std::map<InstrId, std::vector<Asked>> asked;
  std::set<InstrId> refused;
  IdVector<InstrId, InstrId> joined;
};

} // namespace

IdVector<InstrId, InstrId> findJoins(const Kernel &kernel) {
  bool hasBranches =
      std::ranges::any_of(kernel.loops, [](const Loop &loop) { return loop.isBranch(); });
  return hasBranches ? JoinFinder(kernel).run() : IdVector<InstrId, InstrId>();
}

} // namespace tally
