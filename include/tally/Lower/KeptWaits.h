//===- KeptWaits.h - Which waits stand before each instruction ------------===//
//
// One wait for each dependence, less those that another wait of the same consumer implies. The
// dependences so implied stay on record as reasons of the wait that does their work.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LOWER_KEPTWAITS_H
#define TALLY_LOWER_KEPTWAITS_H

#include "tally/Code/Code.h"
#include "tally/Sync/Plan.h"

#include <span>

namespace tally {

/// One wait of a consumer: on the semaphore of `group`, for the threshold of `dep`.
struct KeptWait {
  DepId dep;
  GroupId group;
  ExprId threshold;
  uint32_t firstReason = 0; ///< into Code::reasons
  uint32_t numReasons = 0;
};

/// For every instruction, its waits, the one that is likely to be satisfied last at the end.
class KeptWaits {
public:
  /// Fills `code.reasons`.
  KeptWaits(const Kernel &kernel, const SyncPlan &plan, Code &code);

  std::span<const KeptWait> of(InstrId instr) const {
    return std::span(waits).subspan(first[instr.value],
                                    first[instr.value + 1] - first[instr.value]);
  }

private:
  std::vector<KeptWait> waits;
  std::vector<uint32_t> first;
};

} // namespace tally

#endif // TALLY_LOWER_KEPTWAITS_H
