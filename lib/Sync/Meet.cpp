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
// A dependence that is counted apart (Divergence.h) is refused there: the runs that it asks for
// need not be those before the barrier. And a doubtful engine meets no other, here or to reset
// counters, for the others would wait for it where their dependences do not.
//
// No engines meet where nothing is covered, and no counter starts again from zero: code that counts
// on from outside the region finds what it expects.
//===----------------------------------------------------------------------===//

#include "Planners.h"

#include "tally/Model/Regions.h"

#include <fmt/format.h>

#include <bit>

namespace tally {

using namespace sync;

std::vector<EngineId> sync::meet(const Kernel &kernel, const Divergence &divergence,
                                 EngineBits members, LoopId body, const char *where, LoopId loop,
                                 Diagnostics &diagnostics) {
  std::vector<EngineId> engines;
  for (EngineBits rest = members; rest != 0; rest &= rest - 1) {
    engines.push_back(EngineId(static_cast<uint32_t>(std::countr_zero(rest))));
  }
  LoopId divergent = divergence.around(body);
  if (engines.size() > 1 && divergent.valid()) {
    diagnostics
        .error(kernel.loops[loop].where,
               fmt::format("a barrier {} '{}' cannot join '{}' and '{}': they may disagree on "
                           "how often '{}' runs; use a strategy without barriers",
                           where, kernel.nameOf(loop), kernel.nameOf(engines[0]),
                           kernel.nameOf(engines[1]), kernel.nameOf(divergent)))
        .note(kernel.loops[divergent].where,
              fmt::format("divergent '{}' is here", kernel.nameOf(divergent)));
  }
  return engines;
}

std::string sync::disagreement(const Kernel &kernel, const Divergence &divergence, DepId apart) {
  std::string_view loop = kernel.nameOf(divergence.apartOn(apart));
  return fmt::format("engines may disagree on how often '{}' runs, around '{}'; make '{}' uniform",
                     loop, kernel.nameOf(kernel.deps[apart].producer), loop);
}

void sync::noteDoubt(const Kernel &kernel, const Divergence &divergence, DepId apart,
                     Diagnostic &diagnostic) {
  LoopId loop = divergence.apartOn(apart);
  diagnostic
      .note(kernel.deps[apart].where, fmt::format("'{}' waits for '{}' by its own count here",
                                                  kernel.nameOf(kernel.deps[apart].consumer),
                                                  kernel.nameOf(kernel.deps[apart].producer)))
      .note(kernel.loops[loop].where, fmt::format("divergent '{}' is here", kernel.nameOf(loop)));
}

bool sync::refuseApart(const Kernel &kernel, const Divergence &divergence, DepId id,
                       Diagnostics &diagnostics) {
  if (!divergence.apartOn(id).valid()) {
    return false;
  }
  Diagnostic &error = diagnostics.error(
      kernel.deps[id].where,
      fmt::format("barriers cannot stand for {}, which waits for as many runs as its own engine "
                  "counts: {}, or use a strategy without barriers",
                  describe(kernel, id), disagreement(kernel, divergence, id)));
  noteDoubt(kernel, divergence, id, error);
  return true;
}

/// An error if several engines meet and one of them is doubtful. `purpose` begins the message.
static void refuseDoubt(const Kernel &kernel, const Divergence &divergence, EngineBits members,
                        LoopId loop, const std::string &purpose, std::string_view wayOut,
                        Diagnostics &diagnostics) {
  for (EngineBits rest = std::popcount(members) > 1 ? members : 0; rest != 0; rest &= rest - 1) {
    EngineId engine(static_cast<uint32_t>(std::countr_zero(rest)));
    DepId doubt = divergence.doubtOf(engine);
    if (!doubt.valid()) {
      continue;
    }
    Diagnostic &error = diagnostics.error(
        kernel.loops[loop].where,
        fmt::format("{}, but '{}' might never get there: it depends on '{}', and {}, or {}",
                    purpose, kernel.nameOf(engine), kernel.nameOf(kernel.deps[doubt].consumer),
                    disagreement(kernel, divergence, doubt), wayOut));
    noteDoubt(kernel, divergence, doubt, error);
    return;
  }
}

/// By loop: the engines that raise or wait for what is reset between its iterations, which is what
/// is counted within the loop, and what is counted from the start of the kernel.
static IdVector<LoopId, EngineBits> resetTogether(const Kernel &kernel, const SyncPlan &plan) {
  IdVector<LoopId, EngineBits> members(kernel.loops.size(), 0);
  EngineBits everywhere = 0;
  auto add = [&](GroupId group, EngineId engine) {
    if (group.valid()) {
      LoopId body = plan.groups[group].body;
      (body.valid() ? members[body] : everywhere) |= EngineBits(1) << engine.value;
    }
  };
  for (InstrId instr : kernel.instrs.ids()) {
    add(plan.groupOf[instr], kernel.engineOf(instr));
  }
  for (DepId dep : kernel.deps.ids()) {
    add(plan.waits[dep].group, kernel.engineOf(kernel.deps[dep].consumer));
  }
  for (uint32_t l = kernel.loops.size(); l-- > 0;) { // a loop's children come after it
    LoopId parent = kernel.loops[LoopId(l)].parent;
    if (parent.valid()) {
      members[parent] |= members[LoopId(l)];
    }
    members[LoopId(l)] |= everywhere;
  }
  return members;
}

void sync::refuseResets(const Kernel &kernel, const Divergence &divergence, const SyncPlan &plan,
                        Diagnostics &diagnostics) {
  if (plan.decisions.resets.empty()) {
    return;
  }
  const IdVector<LoopId, EngineBits> members = resetTogether(kernel, plan);
  for (const ResetPoint &point : plan.decisions.resets) {
    refuseDoubt(kernel, divergence, members[point.loop], point.loop,
                fmt::format("engines would meet between iterations of '{}' to reset counters",
                            kernel.nameOf(point.loop)),
                "show by a bound 'max' on trips that nothing has to be reset", diagnostics);
  }
}

void sync::coverByBarriers(const Kernel &kernel, const Divergence &divergence, SyncPlan &plan,
                           Diagnostics &diagnostics) {
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
    refuseApart(kernel, divergence, id, diagnostics);
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
          meet(kernel, divergence, members[loop], loop, "at the back edge of", loop, diagnostics);
      refuseDoubt(kernel, divergence, members[loop], loop,
                  fmt::format("engines would meet at the back edge of '{}'", kernel.nameOf(loop)),
                  "synchronise the region without barriers", diagnostics);
    }
  }
}

} // namespace tally
