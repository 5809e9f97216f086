//===- Pins.h - Semaphores and registers that the user decides about ------===//
//
// A kernel may reserve semaphores, and registers of an engine: no code that is made for it touches
// them. And it may pin an instruction to a semaphore. Instructions with the same pin share
// it; all others are planned around them.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_MODEL_PINS_H
#define TALLY_MODEL_PINS_H

#include "tally/Model/Kernel.h"

#include <map>

namespace tally {

/// By instruction, the semaphore that it is pinned to. Few are.
std::map<InstrId, uint32_t> pinnedSemaphores(const Kernel &kernel);

/// Errors for pins to reserved semaphores, several pins of one instruction, and pins that make
/// instructions of several queues or bodies share.
void checkPins(const Kernel &kernel, Diagnostics &diagnostics);

} // namespace tally

#endif // TALLY_MODEL_PINS_H
