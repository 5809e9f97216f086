//===- Plan.cpp - Dispatch and dump ---------------------------------------===//

#include "Planners.h"

#include "tally/Sync/Split.h"

#include "tally/Model/Regions.h"

#include <fmt/format.h>

namespace tally {

using namespace sync;

std::optional<Sharing> sharingIn(RegionSync sync) {
  switch (sync) {
  case RegionSync::PerInstruction:
    return Sharing::None;
  case RegionSync::PerLoop:
  case RegionSync::Barrier:
    return Sharing::Body;
  case RegionSync::PerEngine:
    return Sharing::Queue;
  case RegionSync::AsAround:
    break;
  }
  return std::nullopt;
}

uint32_t numInexact(const SyncPlan &plan) {
  auto inexact = [](const Wait &wait) { return !wait.exact; };
  return static_cast<uint32_t>(std::ranges::count_if(plan.waits, inexact));
}

IdVector<InstrId, bool> overwaitAllowed(const Kernel &kernel, const SyncPlan &plan) {
  Strategy strategy = plan.decisions.strategy;
  bool all = strategy == Strategy::Barrier || strategy == Strategy::Manual ||
             !plan.barriers.empty(); // who meets waits for whatever the others do
  IdVector<InstrId, bool> allowed(kernel.instrs.size(), all);
  for (DepId dep : plan.waits.ids()) {
    if (!plan.waits[dep].exact) {
      allowed[kernel.deps[dep].consumer] = true;
    }
  }
  return allowed;
}

/// Barriers and written-out loops have semaphores of their own making.
static void refusePins(const Kernel &kernel, Strategy strategy, Diagnostics &diagnostics) {
  if (!kernel.pins.empty()) {
    diagnostics.error(
        kernel.pins[0].where,
        fmt::format("strategy '{}' decides itself which instructions share a semaphore; pins are "
                    "for 'per-instruction', 'per-loop', 'per-engine' and 'auto'",
                    toString(strategy)));
  }
}

/// Nor do they know regions: the whole kernel is synchronised in one way.
static void ignoreRegions(const Kernel &kernel, Strategy strategy, Diagnostics &diagnostics) {
  auto region = std::ranges::find_if(
      kernel.loops, [](const Loop &loop) { return loop.sync != RegionSync::AsAround; });
  if (region != kernel.loops.end()) {
    diagnostics.remark(region->where,
                       fmt::format("strategy '{}' is for whole kernels: '{}' is not synchronised "
                                   "'{}'; regions are for 'per-instruction', 'per-loop', "
                                   "'per-engine' and 'auto'",
                                   toString(strategy), kernel.text(region->name),
                                   toString(region->sync)));
  }
}

SyncPlan makePlan(const Kernel &kernel, const PlanDecisions &decisions, Diagnostics &diagnostics) {
  SyncPlan plan;
  plan.decisions = decisions;
  plan.exprs = ExprPool(decisions.fold);
  plan.groupOf.assign(kernel.instrs.size(), GroupId());
  plan.placeOf.assign(kernel.instrs.size(), 0);
  plan.waits.assign(kernel.deps.size(), Wait());
  if (!countsAtRunTime(decisions.strategy)) {
    refusePins(kernel, decisions.strategy, diagnostics);
    ignoreRegions(kernel, decisions.strategy, diagnostics);
  }
  switch (decisions.strategy) {
  case Strategy::Barrier:
    planBarriers(kernel, plan, diagnostics);
    break;
  case Strategy::Unrolled:
    planUnrolled(kernel, plan, diagnostics);
    break;
  case Strategy::PerInstruction:
  case Strategy::PerLoop:
  case Strategy::PerEngine:
  case Strategy::Auto:
    planCounting(kernel, plan, diagnostics);
    break;
  case Strategy::Manual:
    diagnostics.error(kernel.where, "strategy 'manual' takes the code as it is written: there is "
                                    "nothing to plan");
    break;
  case Strategy::Ideal:
    diagnostics.error(kernel.where, "strategy 'ideal' has the plan of 'per-loop'");
    break;
  }
  if (!diagnostics.hasErrors()) {
    checkSplitWaits(kernel, plan, diagnostics);
  }
  return plan;
}

std::string dump(const Kernel &kernel, const SyncPlan &plan) {
  std::string text = fmt::format("plan '{}'\n", toString(plan.decisions.strategy));
  for (GroupId g : plan.groups.ids()) {
    const Group &group = plan.groups[g];
    text +=
        fmt::format("  group {} queue '{}' body '{}' N {}\n", g.value, kernel.nameOf(group.queue),
                    group.body.valid() ? kernel.nameOf(group.body) : "*", group.numSignals);
  }
  for (DepId d : kernel.deps.ids()) {
    const Wait &wait = plan.waits[d];
    text += fmt::format("  {}: {}{}", describe(kernel, d), toString(wait.waitClass),
                        wait.exact ? "" : " (over-waits)");
    if (wait.group.valid() && wait.threshold.valid()) {
      text += fmt::format(" group {} >= {}", wait.group.value,
                          toString(plan.exprs, wait.threshold, plan.rings, plan.rounds, kernel));
    }
    text += '\n';
  }
  return text;
}

} // namespace tally
