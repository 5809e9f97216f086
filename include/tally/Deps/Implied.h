//===- Implied.h - Dependences that others imply --------------------------===//
//
// Most dependences of a kernel follow from the others: a wait for the store of a tile is also
// a wait for the load that the store had waited for. Removing them saves waits and semaphores.
//
//   A    'add' -> 'store'           kept
//   B    'store' -> 'load' at A=4   kept
//   C    'add' -> 'load' at A=4     implied: B, and 'store' had waited: A
//
// What a chain may use, about the start of one run of the consumer:
//
//   engine   what its engine issued before, and so the waits of that
//   wait     a dependence: the producer's runs up to there have retired; so the one that is there
//            has started, and its engine had passed all waits before
//   queue    what has retired, and so all that entered its queue before
//   branches what instructions of both branches of an `if` had waited for
//
// Each link holds for all trip counts. A chain goes through runs that surely exist: no branch that
// may be skipped, no loop that may run zero times, unless the producer or the consumer is inside
// it, too. It goes only through iterations that exist because the one that is waited for does.
// Bodies on whose trips engines may disagree are left alone.
//
// Where distances are constant, one walk finds all of them at once (lib/Deps/Clocks.h), and one
// more for each distance that counts on inner loops, too (lib/Deps/Shifted.h): in loops without
// branches, nothing that is kept follows from the rest. For other distances, and with branches, the
// rest is removed one after the other, those first that would cost most, by a search for a chain
// within bounds. These are 32 to 1024 statements about instructions (fewer for more dependences), a
// quarter of that many neighbours on an engine in each direction, and 64 links for each statement.
//
// Last, where trips are constant and runs are few, all runs are gone through (lib/Deps/RunByRun.h),
// and nothing that is kept follows from the rest.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_DEPS_IMPLIED_H
#define TALLY_DEPS_IMPLIED_H

#include "tally/Deps/Extract.h"

namespace tally {

/// Marks what is implied by the rest, and writes down why.
void markImplied(const Kernel &kernel, Extraction &extraction);

/// Keeps all of them, each no longer than it is needed.
void shortenAll(Extraction &extraction);

} // namespace tally

#endif // TALLY_DEPS_IMPLIED_H
