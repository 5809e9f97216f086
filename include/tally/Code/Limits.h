//===- Limits.h - What code needs and a machine has not -------------------===//
#ifndef TALLY_CODE_LIMITS_H
#define TALLY_CODE_LIMITS_H

#include "tally/Code/Code.h"
#include "tally/Machine/Machine.h"

namespace tally {

/// Errors for what code needs and the machine has not: engines, semaphores, registers,
/// counters as wide as its numbers. Each names the limit, the use and the engine.
void checkLimits(const Kernel &kernel, const Code &code, const Machine &machine,
                 Diagnostics &diagnostics);

/// Errors for pins to semaphores that the machine does not have; before anything is planned.
void checkPinsOn(const Kernel &kernel, const Machine &machine, Diagnostics &diagnostics);

/// How many of these numbers lie below the limit.
uint32_t countBelow(const std::vector<uint32_t> &numbers, uint32_t limit);

/// The limit less what is reserved below it; none if there is no limit.
std::optional<uint32_t> unreserved(std::optional<uint32_t> limit,
                                   const std::vector<uint32_t> &reserved);

} // namespace tally

#endif // TALLY_CODE_LIMITS_H
