//===- Interrupt.h - Ending a long command by a signal --------------------===//
//
// The first SIGINT (Ctrl-C) or SIGTERM asks the command to end with what it knows so far; the
// second ends the program.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_TOOLS_TALLY_INTERRUPT_H
#define TALLY_TOOLS_TALLY_INTERRUPT_H

#include "tally/Support/Stop.h"

namespace tally::tool {

/// From now on signals set the flag that is returned.
const StopFlag *stopOnSignals();

/// Whether one has come.
bool wasInterrupted();

/// Says so, if one has.
void tellInterrupt();

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_INTERRUPT_H
