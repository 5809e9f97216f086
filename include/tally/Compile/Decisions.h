//===- Decisions.h - What compilation decides for one kernel --------------===//
//
// Plan and code follow from kernel, machine and decisions alone: the same decisions give the same
// code. The search (Compile.cpp) is for decisions; here they are data, which can be verified and
// shown.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_COMPILE_DECISIONS_H
#define TALLY_COMPILE_DECISIONS_H

#include "tally/Compile/Request.h"
#include "tally/Lower/Lower.h"

namespace tally {

struct Decisions {
  PlanDecisions plan;
  LowerDecisions lower;
};

/// What plans turned out to need beyond what was asked for. The next decisions provide it.
struct PlanNeeds {
  std::vector<ResetPoint> resets;  ///< loops between whose iterations counters are set back
  uint32_t spare = 0;              ///< semaphores that sharing leaves, for engines to meet
  uint32_t leastUsed = UINT32_MAX; ///< of all numbers of semaphores that were too many
  std::vector<DepId> leftOut = {}; ///< known before: what is not waited for, as others imply it

  bool operator==(const PlanNeeds &) const = default;
};

/// What a request settles by itself on a machine, whatever the kernel.
Decisions decisionsFor(const Request &request, const PlanNeeds &needs, const Machine &machine);

/// Whether the decisions can be about this kernel and this machine. Reports what cannot.
void verifyDecisions(const Kernel &kernel, const Decisions &decisions, const Machine &machine,
                     Diagnostics &diagnostics);

/// A line for each thing decided; tables by instruction, dependence and engine name what differs
/// from the rest.
std::string dump(const Kernel &kernel, const Decisions &decisions);

} // namespace tally

#endif // TALLY_COMPILE_DECISIONS_H
