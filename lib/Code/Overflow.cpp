//===- Overflow.cpp - Do counters stay below the machine's limit? ---------===//
//
// A semaphore of body l is raised by w*N at each entry of l, and thresholds run one entry ahead (or
// d more, for an inner index d ahead): w*N*(entries + 1) must stay below 2^bits (2^(bits-1) where
// waits compare signed). Entries are bounded by the trip bounds around l. Where those are missing
// or too large, the code is right up to a number of entries that is said.
//===----------------------------------------------------------------------===//

#include "tally/Code/Lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace tally {
namespace {

constexpr uint64_t unbounded = UINT64_MAX;

uint64_t saturatingMul(uint64_t a, uint64_t b) {
  return a != 0 && b > (unbounded - 1) / a ? unbounded : a * b;
}

class OverflowChecker {
public:
  OverflowChecker(const Kernel &kernel, const SyncPlan &plan, const Machine &machine,
                  Diagnostics &diagnostics)
      : kernel(kernel), plan(plan), machine(machine), diagnostics(diagnostics),
        entries(kernel.loops.size(), 1), perEntry(kernel.loops.size(), 0),
        ahead(kernel.loops.size(), 1) {}

  void run() {
    boundEntries();
    sumPerEntry();
    for (LoopId loop : kernel.loops.ids()) {
      if (perEntry[loop] > 0 && !fits(loop)) {
        report(loop);
      }
    }
  }

private:
  uint64_t maxTrips(const Loop &loop) const {
    if (loop.trip.kind == Trip::Kind::Constant) {
      return loop.trip.constant;
    }
    return loop.trip.max.value_or(unbounded);
  }

  void boundEntries() {
    for (LoopId l : kernel.loops.ids()) {
      const Loop &loop = kernel.loops[l];
      if (loop.parent.valid()) {
        uint64_t trips = maxTrips(loop);
        uint64_t outer = entries[loop.parent];
        bool unknown = trips == unbounded || outer == unbounded;
        entries[l] = unknown ? unbounded : saturatingMul(outer, trips);
      }
    }
  }

  /// The most that any semaphore or counter grows by at one entry of each loop. A semaphore of a
  /// whole queue grows in many loops: each is charged all of it.
  void sumPerEntry() {
    IdVector<GroupId, uint64_t> raised(plan.groups.size(), 0);
    for (InstrId instr : kernel.instrs.ids()) {
      GroupId group = plan.groupOf[instr];
      if (group.valid()) {
        raised[group] += kernel.queues[kernel.instrs[instr].queue].weight;
      }
    }
    for (InstrId instr : kernel.instrs.ids()) {
      GroupId group = plan.groupOf[instr];
      if (group.valid()) {
        uint64_t &most = perEntry[kernel.instrs[instr].home];
        most = std::max(most, raised[group]);
      }
    }
    for (const Wait &wait : plan.waits) {
      if (wait.maskLoop.valid()) {
        perEntry[wait.maskLoop] = std::max<uint64_t>(perEntry[wait.maskLoop], 1);
      }
    }
    for (DepId dep : plan.waits.ids()) {
      LoopId home = kernel.instrs[kernel.deps[dep].producer].home;
      ahead[home] = std::max<uint64_t>(ahead[home], plan.waits[dep].times);
      if (plan.waits[dep].innerLoop.valid()) {
        chargeElement(plan.waits[dep], home);
      }
    }
  }

  /// An inner index is added to a count of the producer: each must leave the other half of the
  /// range.
  void chargeElement(const Wait &wait, LoopId producerHome) {
    for (LoopId loop : {producerHome, wait.innerLoop}) {
      perEntry[loop] = std::max<uint64_t>(perEntry[loop], 2);
    }
    uint64_t step = static_cast<uint64_t>(std::abs(wait.innerStep));
    ahead[wait.innerLoop] = std::max(ahead[wait.innerLoop], 1 + step);
  }

  bool fits(LoopId loop) const {
    if (entries[loop] == unbounded) {
      return false;
    }
    return saturatingMul(perEntry[loop], entries[loop] + ahead[loop]) < machine.counterLimit();
  }

  /// The outermost loop around `loop` without a bound; none if all have one.
  LoopId unboundedAround(LoopId loop) const {
    LoopId found;
    for (LoopId l = loop; l.valid(); l = kernel.loops[l].parent) {
      found = maxTrips(kernel.loops[l]) == unbounded && l != rootLoop ? l : found;
    }
    return found;
  }

  void report(LoopId loop) {
    uint64_t most = (machine.counterLimit() - 1) / perEntry[loop];
    uint64_t safe = most > ahead[loop] ? most - ahead[loop] : 0;
    std::string what = fmt::format("counters of '{}' are right up to {} entries of it ({} bits, {} "
                                   "an entry)",
                                   kernel.nameOf(loop), safe, machine.counterBits, perEntry[loop]);
    LoopId open = unboundedAround(loop);
    if (!open.valid()) {
      diagnostics.remark(kernel.loops[loop].where,
                         fmt::format("{}, but its trip bounds allow {}; a smaller 'max' on a loop "
                                     "around it would settle it",
                                     what, entries[loop]));
      return;
    }
    diagnostics.remark(kernel.loops[loop].where,
                       fmt::format("{}; a bound 'max' on the trips of '{}' would settle it", what,
                                   kernel.nameOf(open)));
  }

  const Kernel &kernel;
  const SyncPlan &plan;
  const Machine &machine;
  Diagnostics &diagnostics;
  IdVector<LoopId, uint64_t> entries;  ///< the most that there can be; or unbounded
  IdVector<LoopId, uint64_t> perEntry; ///< growth of the fastest counter; 0: nothing is counted
  IdVector<LoopId, uint64_t> ahead;    ///< entries that a threshold may run ahead
};

} // namespace

void checkOverflow(const Kernel &kernel, const SyncPlan &plan, const Machine &machine,
                   Diagnostics &diagnostics) {
  if (countsAtRunTime(plan.options.strategy)) {
    OverflowChecker(kernel, plan, machine, diagnostics).run();
  }
}

} // namespace tally
