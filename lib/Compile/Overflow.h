//===- Overflow.h - Do counters stay below the machine's limit? -----------===//
//
// If trip bounds do not show that they do, there are three answers. Counters are reset during the
// run; the kernel is refused with the bound that would settle it; or the code is kept, and a remark
// says up to how many iterations it is right.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_COMPILE_OVERFLOW_H
#define TALLY_LIB_COMPILE_OVERFLOW_H

#include "tally/Sync/Plan.h"

namespace tally::compiling {

/// The loops between whose iterations counters have to be reset so that none passes the limit, for
/// another plan. An error where there is none that all engines agree on.
std::vector<ResetPoint> findResets(const Kernel &kernel, const SyncPlan &plan,
                                   const Machine &machine, Diagnostics &diagnostics);

/// Those that a plan has, and those that it needs, too: that depends on which instructions share,
/// and on what is reset already.
std::vector<ResetPoint> allResets(const Kernel &kernel, const SyncPlan &plan,
                                  const Machine &machine, Diagnostics &diagnostics);

/// The reset points of a plan, each with the most iterations that fit, and a remark on it.
std::vector<ResetPoint> withPeriods(const Kernel &kernel, const SyncPlan &plan,
                                    const Machine &machine, Diagnostics &diagnostics);

/// Remarks, or errors, where trip bounds do not show that all counters stay below the limit: up to
/// how many entries of which loop the code is right, and the bound that would settle it.
void checkOverflow(const Kernel &kernel, const SyncPlan &plan, const Machine &machine, bool refuse,
                   Diagnostics &diagnostics);

} // namespace tally::compiling

#endif // TALLY_LIB_COMPILE_OVERFLOW_H
