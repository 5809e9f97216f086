//===- Lower.h - From plan to per-engine code -----------------------------===//
#ifndef TALLY_LOWER_LOWER_H
#define TALLY_LOWER_LOWER_H

#include "tally/Code/Code.h"
#include "tally/Sync/Plan.h"

namespace tally {

/// All that code depends on in addition to kernel, plan and machine.
struct LowerDecisions {
  bool licm = true; ///< compute each value at the outermost place where its inputs stand still
  bool cse = true;  ///< compute equal values once
  bool keepCounters = false;   ///< also those that no wait reads, of loops that an engine runs
  bool nativeCounters = false; ///< use a loop's own counter where it counts the same
  bool stepThresholds = false; ///< keep what grows by a constant in a register, and step it
  bool countAtOnce = false;    ///< where an engine only counts a loop, add what it would count
  IdVector<EngineId, bool> recomputes = {}; ///< engines that step nothing all the same; empty: none

  /// That emit large kernels at once; no other than the caller's, unless they say so. The code is
  /// the same with any number.
  uint32_t threads = 1;

  bool stepsOn(EngineId engine) const {
    return stepThresholds && (recomputes.empty() || !recomputes[engine]);
  }
};

/// The code of every engine for a plan of this kernel, for the arithmetic of the machine. Uses more
/// registers than the machine has only if the counters alone need more; see checkLimits().
Code lower(const Kernel &kernel, const SyncPlan &plan, const Machine &machine,
           const LowerDecisions &decisions, Diagnostics &diagnostics);

/// How many operations compute the wait of a dependence on this machine, before sharing and
/// hoisting.
uint32_t waitCost(const SyncPlan &plan, const Machine &machine, DepId dep);

} // namespace tally

#endif // TALLY_LOWER_LOWER_H
