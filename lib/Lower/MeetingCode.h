//===- MeetingCode.h - Where engines meet in code that counts -------------===//
//
// At a reset point of the plan meet the engines that raise a semaphore to be reset there, and
// those with a dependence on what raises one. All count the loop's iterations since the last time,
// so all come to the same one. At the back edge of a loop in a barrier region meet those that a
// dependence links.
//
//   loop A:
//     [t := isGT(total(A), every - 1)]
//     when t:
//       SYNC ...                             drained: whatever was counted has retired
//       [total(A) := 0, ...]
//     ...
//     SYNC ...                               drained: the next iteration finds all of this one
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_LOWER_MEETINGCODE_H
#define TALLY_LIB_LOWER_MEETINGCODE_H

#include "BarrierCode.h"
#include "tally/Sync/Plan.h"

namespace tally::lowering {

/// A reset point with its barrier.
struct ResetSite {
  ResetPoint point;
  BarrierSite barrier;
};

class MeetingCode {
public:
  /// Adds the barriers of all reset points and back edges to the code, whose semaphores are
  /// numbered like the groups of the plan.
  MeetingCode(const Kernel &kernel, const SyncPlan &plan, Code &code);

  /// The reset point between iterations of `loop`, if the engine takes part in one there; null
  /// if not.
  const ResetSite *resetIn(LoopId loop, EngineId engine) const;

  /// The barrier at the back edge of `loop`, if the engine takes part in one there; null if not.
  const BarrierSite *backEdgeOf(LoopId loop, EngineId engine) const;

  const BarrierCode &barriers() const { return program; }

private:
  BarrierCode program;
  std::map<LoopId, ResetSite> resets;
  std::map<LoopId, BarrierSite> backEdges;
};

} // namespace tally::lowering

#endif // TALLY_LIB_LOWER_MEETINGCODE_H
