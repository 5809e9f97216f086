//===- MustOrder.h - What surely comes before what, exactly ---------------===//
//
// When an instruction is issued, how many instructions of a queue have surely finished, in every
// schedule? HappensBefore.h answers this from a single run, if the run shows which raises bring a
// semaphore to a value. This header answers it where several engines and queues raise a semaphore
// in any order, at the cost of one quick run for each of them.
//
// Idea. Event e surely comes before event f if f cannot happen without e. So hold e back, let all
// else go on as far as it can, and look whether f has happened. One run does this for all events of
// a component (an engine, or a ring of a queue: it has one fixed sequence of events):
//
//   hold the component; whenever nothing else can happen, let it take one step
//
// When f happens in that run, f needs just as many steps of the component as it has taken.
//
//   Proof, for code without resets whose counters do not wrap around. What an event needs are
//   earlier events of its component, semaphores that have reached a value, or instructions of its
//   engine that have finished. All of these stay true once they are. So what can happen stays
//   possible until it does.
//   Let a component be held after t steps, and take two runs that go on until nothing else can
//   happen. They have the same events: otherwise take the first event of one run that the other
//   lacks. All that it needs happened in the other run, too, so it can happen there, which is a
//   contradiction. Call that set of events S(t). Any run in which step t+1 has not happened stays
//   within S(t), by the same argument. Therefore f is in S(t) if some schedule lets f happen before
//   step t+1, and only then. The run above passes through S(0), S(1), ... in turn, and f happens
//   in it on the way to the first S(t) that has f.                                            []
//
// The same argument with nothing held: all schedules end with the same events, so one run tells
// whether code gets stuck.
//
// Resets. Take any one run and cut each semaphore into counters: what lies between two resets of it
// is one counter. Each wait and each raise then belongs to one counter, resets do nothing, and the
// proof applies to this changed code. The code itself does the same as the changed code if, in the
// changed code,
//
//   R1  each raise, wait and reset of a counter surely comes before the reset that ends it
//   R2  the reset that begins a counter surely comes before each raise of it, and before the
//       engine comes to each wait on it, whether the wait passes or not.
//
//   Proof. Take a schedule of the code. By induction each prefix of it is one of the changed code,
//   in which a semaphore has the value of the counter that its last reset has begun. Let e be the
//   next event. If e raises counter k of a semaphore: by R2 the reset that begins k has happened;
//   by R1 the one that ends k has not, since e has not. So the semaphore stands for k. If e is a
//   wait on k, the engine has come to it, and R1 and R2 say the same; so it passes in the one if
//   it does in the other. So the two have the same schedules.                              []
//
// The runs that hold engines and rings check R1 and R2. If one fails, isSettled() says no.
//
// Not counted as order: a queue that is full. Not covered: counters that wrap around.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_CHECK_MUSTORDER_H
#define TALLY_LIB_CHECK_MUSTORDER_H

#include "tally/Check/HappensBefore.h"
#include "tally/Check/Impl.h"

#include <functional>
#include <span>

namespace tally::check {

/// A wait that the code is taken to have: until a number of instructions of a queue have retired.
struct AssumedWait {
  EngineId engine;
  uint32_t at = 0; ///< in the trajectory of the engine: before this operation
  QueueId queue;
  uint32_t number = 0;   ///< 0: none
  bool replaces = false; ///< the operation's own wait is left out
};

class MustOrder {
public:
  /// Of code for which `system` is complete. `assumed` is sorted by engine and place. Asks
  /// `keepGoing`, if there is one, after each run.
  explicit MustOrder(const ImplSystem &system, std::span<const AssumedWait> assumed = {},
                     const std::function<bool()> &keepGoing = {});

  /// Whether the answers hold for every schedule.
  bool isSettled() const { return reasons.all().empty() && !isCutOff; }

  /// Why not, unless it was told to stop. Operations are named by their number over all engines.
  const std::vector<Unsettled> &unsettled() const { return reasons.all(); }

  /// How many instructions of `queue` have surely finished when instruction `number`, from 1, of
  /// `later` is issued. For instructions that are issued in some schedule.
  uint32_t finished(QueueId queue, QueueId later, uint32_t number) const {
    return rows[later][size_t(number - 1) * rows.size() + queue.value];
  }

  /// Whether some engine never comes to its end, in any schedule.
  bool isStuck() const { return stuck; }

private:
  UnsettledList reasons;
  IdVector<QueueId, std::vector<uint32_t>> rows; ///< by instruction, then by queue
  bool stuck = false;
  bool isCutOff = false;
};

/// By number n of completions of `queue`, from 0: the largest value that `sema` comes to in any
/// schedule while some ring of the queue has completed no more than n. So a wait for one more
/// surely comes after instruction n + 1. Empty if a reset makes values mean something else.
std::vector<uint64_t> largestValues(const ImplSystem &system, std::span<const AssumedWait> assumed,
                                    SemaId sema, QueueId queue);

} // namespace tally::check

#endif // TALLY_LIB_CHECK_MUSTORDER_H
