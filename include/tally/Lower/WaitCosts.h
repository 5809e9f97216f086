//===- WaitCosts.h - What the waits of a plan cost, estimated -------------===//
#ifndef TALLY_LOWER_WAITCOSTS_H
#define TALLY_LOWER_WAITCOSTS_H

#include "tally/Lower/Lower.h"

namespace tally {

/// What the waits of a plan and the computation of their thresholds cost on a machine, for each of
/// `numSets` sets of instructions that are waited for, without making the code.
std::vector<double> waitCosts(const Kernel &kernel, const SyncPlan &plan, const Machine &machine,
                              const LowerDecisions &decisions,
                              const IdVector<InstrId, uint32_t> &setOf, size_t numSets);

} // namespace tally

#endif // TALLY_LOWER_WAITCOSTS_H
