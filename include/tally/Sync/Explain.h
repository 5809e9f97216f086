//===- Explain.h - Why a dependence waits for what it waits for -----------===//
#ifndef TALLY_SYNC_EXPLAIN_H
#define TALLY_SYNC_EXPLAIN_H

#include "tally/Sync/Plan.h"

#include <string>
#include <vector>

namespace tally {

/// One aspect of a wait: "runs", "snapshot(A, 2, total(B)): the runs of 'mm' up to ...".
struct ExplainedPart {
  std::string aspect;
  std::string text;
};

/// The wait of a dependence, part by part: class, semaphore, runs, mask, and the whole threshold.
std::vector<ExplainedPart> explainWait(const Kernel &kernel, const SyncPlan &plan, DepId dep);

} // namespace tally

#endif // TALLY_SYNC_EXPLAIN_H
