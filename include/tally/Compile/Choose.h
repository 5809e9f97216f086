//===- Choose.h - Strategy 'auto': the cheapest way to share semaphores ---===//
//
// A wait for a separate semaphore needs fewer operations; a shared one saves semaphores, and
// waits where an instruction needs several producers of one body. Which is cheaper depends on the
// machine's prices, on how often a body runs, and on its limits.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_COMPILE_CHOOSE_H
#define TALLY_COMPILE_CHOOSE_H

#include "tally/Compile/Decisions.h"
#include "tally/Compile/Search.h"

namespace tally {

/// For Strategy::Auto, the decisions with everything chosen: which instructions share a semaphore,
/// and how loops are counted. What a limit of the machine forced is a remark. For every other
/// strategy, what the request settles. `search` says what was tried, and how many other ways to
/// begin are promising: these are had by their number, from 1 on; 0 is the best.
Decisions choose(const Kernel &kernel, const Request &request, const PlanNeeds &needs,
                 const Machine &machine, Diagnostics &diagnostics, Search &search,
                 uint32_t beginning = 0);

/// Why code was taken whose waits are longer than those of other code that was timed, in words.
std::string whyLonger(const CodeCost &chosen, const CodeCost &exact);

} // namespace tally

#endif // TALLY_COMPILE_CHOOSE_H
