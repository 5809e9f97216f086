//===- Unrolled.cpp - Loops written out, static thresholds ----------------===//
//
// With constant trips every run of every instruction has a number. One
// semaphore per queue counts them all, and a wait is for the number of the run that the
// dependence names: exact for every distance. The plan fixes the groups; the
// numbers appear when the code is written out (Code/Unroll.cpp).
//
//===----------------------------------------------------------------------===//

#include "Planners.h"

#include <fmt/format.h>

namespace tally {

using namespace sync;

/// More instructions than this nobody wants written out.
static constexpr uint64_t maxUnrolled = 50'000'000;

static std::string whatDecides(const Kernel &kernel, LoopId l) {
  const Trip &trip = kernel.loops[l].trip;
  if (trip.kind == Trip::Kind::Formula) {
    return fmt::format("a formula gives those of '{}'; another strategy counts them",
                       kernel.nameOf(l));
  }
  if (trip.condition.valid()) {
    return fmt::format("iterations or values decide about '{}'; another strategy looks at them",
                       kernel.nameOf(l));
  }
  return fmt::format("'{}' is decided at run time; write a number of trips in the kernel, or take "
                     "another strategy",
                     kernel.nameOf(l));
}

static bool tripsAreConstant(const Kernel &kernel, Diagnostics &diagnostics) {
  bool constant = true;
  for (LoopId l : kernel.loops.ids()) {
    const Loop &loop = kernel.loops[l];
    if (loop.kind == LoopKind::Else || loop.trip.kind == Trip::Kind::Constant) {
      continue;
    }
    constant = false;
    diagnostics.error(loop.where, fmt::format("strategy 'unrolled' needs constant trips, but {}",
                                              whatDecides(kernel, l)));
  }
  return constant;
}

/// Whether the kernel written out stays below maxUnrolled instructions.
static bool sizeIsSane(const Kernel &kernel, Diagnostics &diagnostics) {
  IdVector<LoopId, uint64_t> entries(kernel.loops.size(), 1);
  uint64_t total = 0;
  for (LoopId l : kernel.loops.ids()) {
    const Loop &loop = kernel.loops[l];
    if (loop.parent.valid()) {
      uint64_t outer = entries[loop.parent];
      bool huge = outer > 0 && loop.trip.constant > maxUnrolled / outer;
      entries[l] = huge ? maxUnrolled + 1 : outer * loop.trip.constant;
    }
  }
  for (const Instr &instr : kernel.instrs) {
    total += entries[instr.home];
  }
  if (total <= maxUnrolled) {
    return true;
  }
  diagnostics.error(kernel.where, fmt::format("strategy 'unrolled' would write out more than {} "
                                              "instructions",
                                              maxUnrolled));
  return false;
}

void sync::planUnrolled(const Kernel &kernel, SyncPlan &plan, Diagnostics &diagnostics) {
  if (!tripsAreConstant(kernel, diagnostics) || !sizeIsSane(kernel, diagnostics)) {
    return;
  }
  makeGroups(kernel, plan, [](InstrId) { return Sharing::Queue; }, [](DepId) { return true; });
  for (DepId dep : kernel.deps.ids()) {
    plan.waits[dep].waitClass = WaitClass::Static;
    plan.waits[dep].group = plan.groupOf[kernel.deps[dep].producer];
  }
}

} // namespace tally
