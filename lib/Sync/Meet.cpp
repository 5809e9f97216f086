//===- Meet.cpp - Barriers in code that counts ----------------------------===//
//
// In a barrier region, what one iteration of a loop owes to another needs no counting: the engines
// at both ends meet at the loop's back edge, drained. Take the innermost loop around both ends. If
// the two runs lie in different iterations of it, be it that an outer loop carries the distance,
// its back edge stands between them.
//
//   carried, both ends in loop l of the region     covered at the back edge of l
//   within one iteration; across the edge          counted, as everywhere
//
// Nobody meets where nothing is covered, and no counter starts again from zero: whoever counts on
// from outside the region finds what it expects.
//===----------------------------------------------------------------------===//

#include "Planners.h"

#include "tally/Model/Regions.h"

#include <fmt/format.h>

#include <bit>

namespace tally {

static void refuseDivergence(const Kernel &kernel, const std::vector<EngineId> &engines,
                             LoopId body, const char *where, LoopId loop,
                             Diagnostics &diagnostics) {
  for (LoopId l = body; l.valid(); l = kernel.loops[l].parent) {
    if (kernel.loops[l].uniform) {
      continue;
    }
    diagnostics
        .error(kernel.loops[loop].where,
               fmt::format("a barrier {} '{}' cannot join '{}' and '{}': they may disagree on "
                           "how often '{}' runs; use a strategy without barriers",
                           where, kernel.nameOf(loop), kernel.nameOf(engines[0]),
                           kernel.nameOf(engines[1]), kernel.nameOf(l)))
        .note(kernel.loops[l].where, fmt::format("divergent '{}' is here", kernel.nameOf(l)));
    return;
  }
}

std::vector<EngineId> meet(const Kernel &kernel, EngineBits members, LoopId body, const char *where,
                           LoopId loop, Diagnostics &diagnostics) {
  std::vector<EngineId> engines;
  for (EngineBits rest = members; rest != 0; rest &= rest - 1) {
    engines.push_back(EngineId(static_cast<uint32_t>(std::countr_zero(rest))));
  }
  if (engines.size() > 1) {
    refuseDivergence(kernel, engines, body, where, loop, diagnostics);
  }
  return engines;
}

void coverByBarriers(const Kernel &kernel, SyncPlan &plan, Diagnostics &diagnostics) {
  const IdVector<LoopId, RegionSync> regions = regionSyncs(kernel);
  IdVector<LoopId, EngineBits> members(kernel.loops.size(), 0);
  for (DepId id : kernel.deps.ids()) {
    const Dep &dep = kernel.deps[id];
    DepPlace place = placeOf(kernel, dep);
    LoopId loop = kernel.realLoop(place.shared);
    bool carried = place.offset > 0 || (dep.form == DistanceForm::Flat && dep.step > 0);
    if (!carried || loop == rootLoop || regions[loop] != RegionSync::Barrier) {
      continue;
    }
    plan.waits[id].waitClass = WaitClass::CoveredByBarrier;
    plan.waits[id].exact = false;
    for (InstrId end : {dep.producer, dep.consumer}) {
      members[loop] |= EngineBits(1) << kernel.engineOf(end).value;
    }
  }
  for (LoopId loop : kernel.loops.ids()) {
    if (members[loop] != 0) {
      plan.barriers.resize(kernel.loops.size());
      plan.barriers[loop].back =
          meet(kernel, members[loop], loop, "at the back edge of", loop, diagnostics);
    }
  }
}

} // namespace tally
