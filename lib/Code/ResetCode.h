//===- ResetCode.h - Barriers at which counters go back to zero -----------===//
//
// At a reset point of the plan meet the engines that raise a semaphore to be reset there, and
// those that wait for one. All count the loop's iterations since the last time, so all come to the
// same one:
//
//   loop A:
//     [t := isGT(total(A), every - 1)]
//     when t:
//       SYNC ...                             drained: whatever was counted has retired
//       [total(A) := 0, ...]
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_CODE_RESETCODE_H
#define TALLY_LIB_CODE_RESETCODE_H

#include "BarrierCode.h"
#include "Waits.h"

namespace tally {

/// A reset point with its barrier.
struct ResetSite {
  ResetPoint point;
  BarrierSite barrier;
};

class ResetCode {
public:
  /// Adds the barriers of all reset points to the program, whose semaphores are numbered like the
  /// groups of the plan.
  ResetCode(const Kernel &kernel, const SyncPlan &plan, const KeptWaits &waits, Program &program);

  /// The site between iterations of `loop`, if the engine takes part in one there; else null.
  const ResetSite *find(LoopId loop, EngineId engine) const;

  const BarrierCode &barriers() const { return code; }

private:
  static constexpr uint32_t none = UINT32_MAX;

  BarrierCode code;
  std::vector<ResetSite> sites;
  IdVector<LoopId, uint32_t> siteAt; ///< empty if there are no reset points
};

} // namespace tally

#endif // TALLY_LIB_CODE_RESETCODE_H
