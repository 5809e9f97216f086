//===- Split.h - Waiting for queues that complete in parts ----------------===//
#ifndef TALLY_SYNC_SPLIT_H
#define TALLY_SYNC_SPLIT_H

#include "tally/Sync/Plan.h"

namespace tally {

/// Whether increments of one instruction may mix with those of the next one.
inline bool mayMix(const Queue &queue) {
  return queue.completion == Completion::Split && queue.weight > 1;
}

/// An error for each wait of a plan that could pass on parts of a later instruction, with what
/// would make it right.
void checkSplitWaits(const Kernel &kernel, const SyncPlan &plan, Diagnostics &diagnostics);

} // namespace tally

#endif // TALLY_SYNC_SPLIT_H
