//===- WriteOut.h - How loops are written for the sequencer ---------------===//
#ifndef TALLY_LIB_LOWER_WRITEOUT_H
#define TALLY_LIB_LOWER_WRITEOUT_H

#include "tally/Code/Code.h"

namespace tally {

/// Loops are unrolled as the kernel says; with `countAtOnce`, those on an engine that only counts
/// them become additions, where it knows how often they run.
void writeOut(const Kernel &kernel, bool countAtOnce, uint64_t counterLimit, Code &code);

} // namespace tally

#endif // TALLY_LIB_LOWER_WRITEOUT_H
