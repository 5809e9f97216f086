//===- Numbers.h - Which semaphores and registers code uses ---------------===//
//
// Code is made with semaphores and registers numbered from zero on. In the end those that the
// kernel pins get their numbers, and all others the smallest that are neither pinned nor reserved.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_LOWER_NUMBERS_H
#define TALLY_LIB_LOWER_NUMBERS_H

#include "tally/Code/Code.h"
#include "tally/Sync/Plan.h"

namespace tally {

/// Gives the semaphores and registers of code their numbers. For strategies that count, its
/// semaphores are those of the groups of the plan. Nobody touches the ones in between.
void assignNumbers(const Kernel &kernel, const SyncPlan &plan, Code &code);

} // namespace tally

#endif // TALLY_LIB_LOWER_NUMBERS_H
