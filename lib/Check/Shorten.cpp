//===- Shorten.cpp - A witness without superfluous steps ------------------===//
//
// Leaves out one step after the other, the last ones first. What cannot happen any more without it
// falls away as well; if what remains still ends in the same mismatch, it is kept. Again, until
// nothing can be left out, or too many steps were performed to see that: what remains then shows
// the mismatch just as well. One pass takes the square of the length.
//
// Meanwhile a commit names its instruction by its number in the queue, not by its place among those
// in flight, which changes when a retirement is left out.
//===----------------------------------------------------------------------===//

#include "Walks.h"

#include <algorithm>

namespace tally {

using namespace check;

namespace {

class Shortener {
public:
  Shortener(const Lockstep &lockstep, const Mismatch &mismatch, const StopFlag *stop)
      : lockstep(lockstep), mismatch(mismatch), fuel(maxSteps, stop) {}

  std::vector<Step> run(std::vector<Step> schedule) {
    Schedules best{numbered(schedule), std::move(schedule)};
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = best.numbered.size(); i-- > 0 && !fuel.isOut();) {
        if (std::optional<Schedules> shorter = without(best.numbered, i)) {
          best = std::move(*shorter);
          i = std::min(i, best.numbered.size());
          changed = true;
        }
      }
    }
    return std::move(best.placed);
  }

private:
  /// About a second's.
  static constexpr uint64_t maxSteps = 20'000'000;

  /// One schedule, its commits by number and by place.
  struct Schedules {
    std::vector<Step> numbered;
    std::vector<Step> placed;
  };

  static uint32_t numRetired(const LockstepState &state, const Step &step) {
    return step.kind == StepKind::Commit ? state.impl.queues[step.queue].retired : 0;
  }

  std::vector<Step> numbered(std::vector<Step> schedule) const {
    LockstepState state = lockstep.initial();
    for (Step &step : schedule) {
      Step placed = step;
      step.index += numRetired(state, step);
      lockstep.apply(state, placed);
    }
    return schedule;
  }

  /// What remains without step `left` and all that cannot happen then; none if it no longer
  /// ends in the mismatch, or nobody has the time to see that.
  std::optional<Schedules> without(const std::vector<Step> &schedule, size_t left) {
    Schedules result;
    LockstepState state = lockstep.initial();
    for (size_t i = 0; i < schedule.size() && !fuel.isOut(); ++i) {
      fuel.spend();
      Step step = schedule[i];
      bool wrong = step.kind == StepKind::Issue && lockstep.isOutOfOrder(state, step.engine);
      bool gone = step.kind == StepKind::Commit && step.index < numRetired(state, step);
      step.index -= gone ? 0 : numRetired(state, step);
      if (i == left || wrong || gone || !lockstep.implOf().isEnabled(state.impl, step)) {
        continue;
      }
      lockstep.apply(state, step);
      result.numbered.push_back(schedule[i]);
      result.placed.push_back(step);
    }
    return !fuel.isOut() && shows(state) ? std::optional(std::move(result)) : std::nullopt;
  }

  bool shows(const LockstepState &state) const {
    return std::ranges::count(lockstep.mismatches(state), mismatch) != 0;
  }

  const Lockstep &lockstep;
  const Mismatch &mismatch;
  Fuel fuel;
};

} // namespace

std::vector<Step> check::shorten(const Lockstep &lockstep, const Mismatch &mismatch,
                                 std::vector<Step> schedule, const StopFlag *stop) {
  return Shortener(lockstep, mismatch, stop).run(std::move(schedule));
}

} // namespace tally
