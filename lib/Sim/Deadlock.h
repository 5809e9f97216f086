//===- Deadlock.h - Who waits for whom, for ever --------------------------===//
#ifndef TALLY_LIB_SIM_DEADLOCK_H
#define TALLY_LIB_SIM_DEADLOCK_H

#include "tally/Sim/Simulate.h"

namespace tally::sim {

/// Fills in `stuck` and `cycle` (all but thresholds) for engines that stand at these operations,
/// with nothing in flight.
void findDeadlock(const Kernel &kernel, const Code &code, const IdVector<EngineId, uint32_t> &at,
                  const IdVector<SemaId, uint32_t> &semaphores, SimResult &result);

} // namespace tally::sim

#endif // TALLY_LIB_SIM_DEADLOCK_H
