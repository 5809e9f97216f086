//===- Stop.h - Ending a long computation early ---------------------------===//
//
// Long computations have an option `stop`, a flag that another thread or a signal may set. They
// look at it every now and then, and end with what they know so far; they say so, and what was not
// looked at counts for nothing.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_SUPPORT_STOP_H
#define TALLY_SUPPORT_STOP_H

#include <atomic>

namespace tally {

using StopFlag = std::atomic<bool>;

static_assert(StopFlag::is_always_lock_free, "a signal may set it");

/// Why there is no answer then.
inline constexpr const char *stopReason = "it was interrupted";

/// Whether there is a flag, and it is set.
inline bool isSet(const StopFlag *stop) {
  return stop != nullptr && stop->load(std::memory_order_relaxed);
}

} // namespace tally

#endif // TALLY_SUPPORT_STOP_H
