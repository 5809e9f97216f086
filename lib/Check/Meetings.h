//===- Meetings.h - What touches the same in one run ----------------------===//
//
// By enumeration of the run. Two meet if the one touches memory, and after it, in the order of the
// text, the other touches some of it, too. Two without accesses meet if both run, in this order.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_CHECK_MEETINGS_H
#define TALLY_LIB_CHECK_MEETINGS_H

#include "tally/Check/Datapath.h"
#include "tally/Deps/Encounter.h"
#include "tally/Run/Owed.h"

namespace tally::check {

class Meetings {
public:
  Meetings(const Kernel &kernel, const Bindings &bindings, const StopFlag *stop = nullptr);

  /// False, too, of a run that is too long to be looked at.
  bool meet(Party first, Party second) const;

private:
  const Kernel &kernel;
  const Owed owed;
  const Datapath datapath;
};

/// Whether `a` comes before `b` if the kernel is executed one instruction after the other, in the
/// order of the text. Engines that disagree about trips each have their own iterations; those of
/// the loops around both are compared. Runs that the kernel does not have come first.
bool isInTextBefore(const Kernel &kernel, const Owed &owed, Instance a, Instance b);

} // namespace tally::check

#endif // TALLY_LIB_CHECK_MEETINGS_H
