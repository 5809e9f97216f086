//===- Stop.h - Ending a long computation early ---------------------------===//
//
// Long computations have an option `stop`, a flag that another thread or a signal may set. They
// look at it every now and then, and end with what they know so far; they say so, and what was not
// looked at counts for nothing. Those that take as long as a run is have `Fuel`: a number of steps,
// which is 0 once the flag is set.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_SUPPORT_STOP_H
#define TALLY_SUPPORT_STOP_H

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace tally {

using StopFlag = std::atomic<bool>;

static_assert(StopFlag::is_always_lock_free, "a signal may set it");

/// Why there is no answer then.
inline constexpr const char *stopReason = "it was interrupted";

/// Whether there is a flag, and it is set.
inline bool isSet(const StopFlag *stop) {
  return stop != nullptr && stop->load(std::memory_order_relaxed);
}

/// How many more steps something may take.
class Fuel {
public:
  Fuel(uint64_t steps, const StopFlag *stop = nullptr) : left(steps), stop(stop) {}

  void spend(uint64_t steps = 1) { left = isSet(stop) ? 0 : left - std::min(left, steps); }

  bool isOut() const { return left == 0; }

  /// For something else, until the same flag is set.
  Fuel another(uint64_t steps) const { return {steps, stop}; }

private:
  uint64_t left;
  const StopFlag *stop;
};

} // namespace tally

#endif // TALLY_SUPPORT_STOP_H
