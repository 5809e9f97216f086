//===- Mends.h - Changes of code that may mend a fault --------------------===//
//
// Proposes changes, one at a time, and asks the caller whether one helps; nothing here knows. They
// are changes of the code, not of a run: so a threshold that some runs need is first fitted to what
// the engine's registers hold in all of them.
//
// Where a consumer does not wait for its producer:
//
//   wait      it waits for a semaphore that comes with the producer, or for more of it than now:
//             for one more than the largest value that this has in any schedule without the
//             producer's completion (MustOrder.h)
//   drain     the engine that raises the semaphore drains before it does
//   raise     the producer raises a new semaphore, and the consumer waits for it
//   reset     a semaphore is reset before an instruction is issued, not after; or only after a wait
//             for it
//
// Where engines are stuck:
//
//   raise     an instruction raises the semaphore that is waited for, perhaps instead of another
//   branch    the other branch raises it, too
//   wait      a threshold is what the order of instructions asks for, or as much less as is missing
//   credit    an engine raises it by as much before everything else
//   reset     as above
//   drop      nothing is waited for there
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_CHECK_MENDS_H
#define TALLY_LIB_CHECK_MENDS_H

#include "tally/Check/Causes.h"

#include <functional>
#include <span>

namespace tally::check {

/// A register or semaphore that a mend made.
struct Made {
  std::string quoted;  ///< `"count"`; no other of the code has this name
  std::string meaning; ///< follows it: `counts the runs of 'load' from 1`
};

/// Code with the mends so far.
struct MendedCode : Code {
  std::vector<Made> made;
};

/// A change, and the code with it.
struct Proposal {
  Mend mend;
  MendedCode code;
};

/// Whether a proposal helps, so that no other is needed.
using TryMend = std::function<bool(Proposal)>;

/// What the changes are proposed for.
struct MendSubject {
  const Kernel &kernel;
  const MendedCode &code;
  const Machine &machine;
  std::span<const Bindings> choices; ///< of trips; thresholds are fitted to all of them
  ImplOptions options;
};

/// For a consumer that does not wait for its producer. Whether one helped.
bool mendOrder(const MendSubject &subject, InstrId producer, InstrId consumer,
               const TryMend &tryMend);

/// For engines that wait for each other, or one that is not helped.
bool mendDeadlock(const MendSubject &subject, const std::vector<StuckWait> &stuck,
                  const TryMend &tryMend);

} // namespace tally::check

#endif // TALLY_LIB_CHECK_MENDS_H
