//===- WaitMends.h - Thresholds that would be right -----------------------===//
//
// What a consumer has to wait for is known for each of its runs, in all choices of trips. A formula
// of one register, or of one counter that the engine could keep, is fitted to that, and proposed:
//
//   runs of the consumer    1   2   3
//   needed                  1   3   5       let 'use' on 'act' wait for 'full' >= 2 * "r0" - 1
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_CHECK_WAITMENDS_H
#define TALLY_LIB_CHECK_WAITMENDS_H

#include "Edits.h"

#include <optional>

namespace tally::check {

/// That an instruction waits for another by a semaphore.
struct WantedWait {
  InstrId producer, consumer;
  uint32_t at = 0; ///< the operation that issues the consumer
  SemaId sema;
  /// The wait whose threshold is wrong; the one that is on this semaphore, if there is one.
  std::optional<uint32_t> wait = {};
  bool isForgotten = false; ///< that wait counts for nothing

  uint32_t waitOrIssue() const { return wait.value_or(at); }
};

/// Tries thresholds; `before` tells of changes that `program` has already.
bool waitFor(const Edits &edits, const MendedCode &program, WantedWait wanted,
             const std::string &before);

/// Lets a wait ask for so much more.
bool shiftWait(const Edits &edits, MendedCode program, EngineId engine, uint32_t at, int64_t by,
               const std::string &before);

} // namespace tally::check

#endif // TALLY_LIB_CHECK_WAITMENDS_H
