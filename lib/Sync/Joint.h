//===- Joint.h - Distances that are one over the whole run ----------------===//
//
// A ring that goes on from one run of its loop to the next makes several distances of one. Let `m`
// have 16 trips, in `n`. Then the run two before is two iterations of `m` ago. In the first two, it
// is 14 further on, in the iteration of `n` before. Each distance alone needs a mask or a limit.
// Together they need the run two before, whatever `m` and `n` are: total(m) - 2.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_SYNC_JOINT_H
#define TALLY_LIB_SYNC_JOINT_H

#include "tally/Model/Kernel.h"

namespace tally::sync {

/// By dependence: how many entries of the shared body lie between its ends, over the whole run, for
/// it and others of the same ends together; 0 if they do not make one distance. Empty if none do.
IdVector<DepId, uint32_t> jointDistances(const Kernel &kernel);

} // namespace tally::sync

#endif // TALLY_LIB_SYNC_JOINT_H
