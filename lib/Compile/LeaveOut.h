//===- LeaveOut.h - Dependences that need no wait of their own ------------===//
//
// Of dependences that are found, only those remain that the others do not imply. A kernel with
// written ones may have more: under 'auto', these are not waited for, and producers that only they
// wait for raise no semaphore.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_COMPILE_LEAVEOUT_H
#define TALLY_LIB_COMPILE_LEAVEOUT_H

#include "tally/Compile/Compile.h"

namespace tally::compiling {

/// What the others imply, where runs cannot be timed: control gets cheaper without these waits.
std::vector<DepId> leftOutByControl(const Kernel &kernel, const Request &request,
                                    const Machine &machine);

/// Leaves out waits for what other dependences imply: all of them if a run does not get longer, or
/// else those of one engine after the other, each if it does not.
void leaveOutWaits(const Kernel &kernel, const Request &request, const Machine &machine,
                   Compiled &compiled);

} // namespace tally::compiling

#endif // TALLY_LIB_COMPILE_LEAVEOUT_H
