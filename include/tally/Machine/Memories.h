//===- Memories.h - Whether buffers fit into a machine --------------------===//
//
// A machine says how large its memories are. A buffer with an address must lie within its memory,
// and all others of a memory together take no more than there is. That they do does not mean that
// there is a place for each.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_MACHINE_MEMORIES_H
#define TALLY_MACHINE_MEMORIES_H

#include "tally/Machine/Machine.h"

namespace tally {

/// Whether nothing shows that a buffer has no room.
bool mayFit(const Kernel &kernel, const Machine &machine);

/// Warns of buffers that do not fit.
void warnOfMemories(const Kernel &kernel, const Machine &machine, Diagnostics &diagnostics);

} // namespace tally

#endif // TALLY_MACHINE_MEMORIES_H
