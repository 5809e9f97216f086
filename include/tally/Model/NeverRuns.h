//===- NeverRuns.h - What no run of a kernel reaches ----------------------===//
#ifndef TALLY_MODEL_NEVERRUNS_H
#define TALLY_MODEL_NEVERRUNS_H

#include "tally/Model/Kernel.h"

namespace tally {

/// Whether a body cannot run, as it or one around it has no iteration.
bool neverRuns(const Kernel &kernel, LoopId id);

} // namespace tally

#endif // TALLY_MODEL_NEVERRUNS_H
