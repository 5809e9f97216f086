//===- Planners.h - The planner of each family of strategies --------------===//
//
// makePlan() (Plan.cpp) dispatches here. Each planner fills groups, waits and whatever
// other things its strategy needs; all report through `diagnostics` and leave the kernel alone.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_SYNC_PLANNERS_H
#define TALLY_LIB_SYNC_PLANNERS_H

#include "tally/Model/Place.h"
#include "tally/Sync/Divergence.h"
#include "tally/Sync/Plan.h"

namespace tally::sync {

/// PerInstruction, PerLoop, PerEngine, Auto: thresholds computed at run time.
void planCounting(const Kernel &kernel, SyncPlan &plan, Diagnostics &diagnostics);

/// Barrier: engines meet, semaphores start again from zero.
void planBarriers(const Kernel &kernel, SyncPlan &plan, Diagnostics &diagnostics);

/// Unrolled: loops written out; only the groups are planned, thresholds are counted by the code.
void planUnrolled(const Kernel &kernel, SyncPlan &plan, Diagnostics &diagnostics);

/// Barrier regions of code that counts: dependences between iterations of a loop there are covered
/// by a barrier at its back edge, at which the engines meet that they link.
void coverByBarriers(const Kernel &kernel, const Divergence &divergence, SyncPlan &plan,
                     Diagnostics &diagnostics);

/// An error, and true, if a dependence is counted apart: barriers order what engines have run.
bool refuseApart(const Kernel &kernel, const Divergence &divergence, DepId dep,
                 Diagnostics &diagnostics);

/// Errors for reset points of a plan at which an engine would have to meet others that may never
/// get there.
void refuseResets(const Kernel &kernel, const Divergence &divergence, const SyncPlan &plan,
                  Diagnostics &diagnostics);

/// For messages, of a dependence that is counted apart: `engines may disagree on how often 'B'
/// runs, around 'P'; make 'B' uniform`.
std::string disagreement(const Kernel &kernel, const Divergence &divergence, DepId apart);

/// Where the dependence and the divergent loop are.
void noteDoubt(const Kernel &kernel, const Divergence &divergence, DepId apart,
               Diagnostic &diagnostic);

/// A set of engines, one bit each (Kernel.h: at most maxEngines).
using EngineBits = uint64_t;

/// The members of a barrier that stands in `body`, `where` of `loop`; refused if engines may
/// disagree on how often they get there.
std::vector<EngineId> meet(const Kernel &kernel, const Divergence &divergence, EngineBits members,
                           LoopId body, const char *where, LoopId loop, Diagnostics &diagnostics);

/// Puts every instruction in its group, and numbers it there. Groups arise only where a dependence
/// that `waits` needs one: other instructions signal nothing.
void makeGroups(const Kernel &kernel, SyncPlan &plan,
                const std::function<Sharing(InstrId)> &sharing,
                const std::function<bool(DepId)> &waits);

/// Whether each semaphore holds what one entry of a body adds to it, or of one that counts a whole
/// queue, one block. An error where it does not, with the way out.
bool groupsFit(const Kernel &kernel, const SyncPlan &plan, Diagnostics &diagnostics);

} // namespace tally::sync

#endif // TALLY_LIB_SYNC_PLANNERS_H
