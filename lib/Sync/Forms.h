//===- Forms.h - From which counters a wait value is made -----------------===//
//
// A form says how the number of runs to wait for follows from the counters of the consumer's
// engine, before it is known which numbers stand in the threshold.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_SYNC_FORMS_H
#define TALLY_LIB_SYNC_FORMS_H

#include "tally/Model/Place.h"
#include "tally/Sync/Plan.h"

namespace tally::sync {

/// How one dependence is waited for.
struct Form {
  WaitClass waitClass = WaitClass::InShared;
  bool exact = true;
  LoopId carrier;         ///< L; none for distance 0
  uint32_t offset = 0;    ///< k, or f
  bool isOverRun = false; ///< f: counted over the whole run
  bool snapshot = false;  ///< the counter is slot `offset` of a ring at `carrier`
  StmtId before;          ///< of a late ring
  uint32_t minus = 0;     ///< x = counter - minus
  uint32_t times = 1;     ///< x = times * (counter - minus) - less, counter = total(outer)
  LoopId outer;
  uint32_t less = 0;
  LoopId inner;                  ///< element: I
  LoopId innerAround;            ///< element: in each iteration of which runs of I are numbered
  int64_t innerStep = 0;         ///< element: d
  RunTableId table;              ///< element: instead of d
  std::vector<NestLevel> levels; ///< nest: what its loops add
  std::string reason;            ///< why it is not exact
};

/// The form of a dependence; `plan` has its groups already. `joint` is its distance together with
/// others (Joint.h), or 0.
Form formOf(const Kernel &kernel, const SyncPlan &plan, DepId dep, const DepPlace &place,
            uint32_t joint);

/// The reason where fewer iterations are remembered than a distance reaches back.
std::string tooFarBack(uint32_t offset, uint32_t remembered);

} // namespace tally::sync

#endif // TALLY_LIB_SYNC_FORMS_H
