//===- PlanComparison.h - A plan's thresholds against the definition ------===//
//
// Walks each engine through the kernel a second time, now with the counters that wait
// expressions may use, kept as Expr.h and Plan.h describe them. Total and trip
// are set when a body is entered, rings are shifted just before that, ordinals
// (in the unit of the semaphore: runs times weight) at each block. At every run of a consumer, the
// threshold of each of its dependences must show exactly the runs that the definition asks for.
//
// Each expression is evaluated twice: over natural numbers, and in 32-bit
// words where only `Monus` stops at zero. The results may differ nowhere, or `Sub`
// has broken its promise. And where dominates() says that one wait implies another, the
// thresholds must say so, too.
//
// Independent of  whatever chose the formulas, and of lowering: the counters are kept here
// Shared          the plan and the meaning of its expressions (Sync)
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_ORACLE_PLANCOMPARISON_H
#define TALLY_ORACLE_PLANCOMPARISON_H

#include "oracle/Definition.h"

#include "tally/Sync/Plan.h"

namespace tally::oracle {

/// The definition on every engine, indexed by engine.
std::vector<Definition> defineAll(const Kernel &kernel, const Bindings &bindings);

/// Whether one of the walks was cut off.
bool anyCutOff(const std::vector<Definition> &definitions);

/// The counters that the instructions raise under this plan: one for each group.
Signals signalsOf(const Kernel &kernel, const SyncPlan &plan);

/// What the wait of a dependence may ask for, by what the plan says of it: all runs before, where
/// some iterations that it reaches back are not remembered.
Allowance allowanceOf(const Kernel &kernel, const SyncPlan &plan, DepId dep);

/// The same of all, indexed by dependence.
IdVector<DepId, Allowance> allowancesOf(const Kernel &kernel, const SyncPlan &plan);

/// The first run of a consumer whose threshold is not what the definition asks
/// for, as text; none if there is none.
std::optional<std::string> comparePlan(const Kernel &kernel, const SyncPlan &plan,
                                       const Bindings &bindings,
                                       const std::vector<Definition> &definitions);

/// A run of an instruction as `i3 at (2, 1)`.
std::string describeRun(const Kernel &kernel, const Definition &definition, InstrId instr,
                        uint64_t run);

} // namespace tally::oracle

#endif // TALLY_ORACLE_PLANCOMPARISON_H
