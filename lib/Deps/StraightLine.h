//===- StraightLine.h - What straight-line code implies -------------------===//
//
// Outside of all loops and branches, everything happens once, in one order. There a clock says all:
// for each queue the last instruction that has surely retired when another one starts. Linear in
// instructions and dependences times queues, without bounds, and exact.
//
// An instruction starts with the clock of the one that its engine issued before. It takes the
// latest of its dependences first: if the clock says that the producer has retired, it is implied;
// else the clock takes over what the producer started with, and the producer.
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DEPS_STRAIGHTLINE_H
#define TALLY_LIB_DEPS_STRAIGHTLINE_H

#include "tally/Deps/Extract.h"

namespace tally {

/// Whether a dependence is between two instructions outside of loops and branches.
bool isStraightLine(const Kernel &kernel, const Dep &dep);

/// Marks those of them that others of them imply. Those that are only asked about (by index; none
/// if empty) imply nothing themselves.
void markImpliedStraightLine(const Kernel &kernel, Extraction &extraction,
                             const std::vector<bool> &isAsked = {});

} // namespace tally

#endif // TALLY_LIB_DEPS_STRAIGHTLINE_H
