//===- HappensBefore.h - What surely comes before what --------------------===//
//
// Vector clocks over one schedule. Fed with the events of a run, in the order in which they
// happened, this answers: when engine E issues now, how many instructions of queue Q have surely
// finished, whatever the schedule?
//
//   component   one for each engine: steps of its sequencer
//               one for each ring of each queue: completions delivered there (a queue has one
//               ring, or as many as its weight if completion is split)
//   clock       for each component how far it surely was
//
// Edges: the order of each sequencer; an issue before the completions of its instruction; the
// order of completions on a ring; the raises that a wait needs before the wait. Not an edge: that
// something happened to come first. So a wait for s >= v joins the clock of the raise that brought
// s to v, not of those that came later; and a limit of instructions in flight orders nothing.
//
// When one schedule decides. Call a run *settled* if, of the semaphores that some engine waits on,
//
//   S1  every reset of a semaphore is ordered, by edges, with every raise of it, with every wait
//       on it (with one that comes later: before the wait passes), and with those still blocked;
//   S2  between two resets, either each raise of a semaphore comes after the one before it, by
//       edges, or every wait there asks for more than all raises but the smallest make;
//   S3  no semaphore wrapped around.
//
// S2 holds if one in-order queue raises the semaphore. It holds if an engine raises it before it
// issues the instructions that raise it later (credits), or after all of these have finished (a
// drain). It also holds if several raise it in turn, each after a wait for the one before. Claim:
// every schedule of a settled program, for the same trips, has the same events and edges, up to
// their order. So races, order of dependences and deadlock may be read off the one run.
//
//   Proof. Take another schedule up to any point, and let it be a prefix so far: its events are
//   events of our run, and with each it has all that comes before by edges. Let its next event be
//   e. If e does not wait, what it needs (program order, order on a ring) is what our run needed.
//   If e is a wait, S1 places it between the same two resets as in our run: the reset before it is
//   ordered before it by program order or by waits passed earlier, so it has happened; the one
//   after is ordered after e, so it has not, the prefix being closed. Within these, the semaphore
//   counts raises of our run alone. By S2 it reaches the threshold only when those that our run
//   needed are among them: if raises come one after the other by edges, a prefix has the first of
//   them. So e keeps the edges it had. Conversely, while a prefix lacks events of our run, take a
//   first one of them by edges: it can happen now (a wait: by S1 and S2 the raises it needs are
//   there and were not reset). So no schedule stops early, and none gets further: a wait blocked in
//   our run is placed by S1 after the same reset, where the same raises are missing.          []
//
// If S2 alone fails, MustOrder.h still finds what is ordered in every schedule; it takes one more
// run for each queue. The edges of a run are then too many: they say which raises brought a
// semaphore to its value there, and others may elsewhere. They are never too few: a run without an
// event and all that comes after it by edges is a run, too.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_CHECK_HAPPENSBEFORE_H
#define TALLY_CHECK_HAPPENSBEFORE_H

#include "tally/Check/Step.h"
#include "tally/Code/Code.h"
#include "tally/Machine/Machine.h"

#include <deque>
#include <optional>
#include <set>

namespace tally {

/// For each component how far it surely was.
using Clock = std::vector<uint32_t>;

/// Why one schedule does not decide.
struct Unsettled {
  enum class Kind : uint8_t {
    LostRaise,     ///< a reset and an earlier raise are not ordered: the reset may miss it
    ErasedRaise,   ///< a raise and an earlier reset are not ordered: it may be erased
    EarlyWait,     ///< a wait and an earlier reset are not ordered: it may see the old value
    ErasedForWait, ///< a reset and an earlier wait are not ordered: the wait may never pass
    Mixed,         ///< which raises come first depends on the schedule
    Wrapped,       ///< it went past the largest value of a counter
  };
  Kind kind = Kind::Mixed;
  SemaId sema;
  uint32_t reset = 0; ///< what resets, as the caller named the event
  uint32_t other = 0; ///< what raises or waits

  auto operator<=>(const Unsettled &) const = default;
};

/// Each reason once.
class UnsettledList {
public:
  void add(const Unsettled &reason) {
    if (known.insert(reason).second) {
      list.push_back(reason);
    }
  }

  const std::vector<Unsettled> &all() const { return list; }

private:
  std::vector<Unsettled> list;
  std::set<Unsettled> known;
};

class HappensBefore {
public:
  HappensBefore(const Kernel &kernel, size_t numSemaphores, const Machine &machine);

  //===--- Events; `who` names one for Unsettled ---------------------------===//

  /// The sequencer takes a step; call this first for each of those below that has an engine.
  void step(EngineId engine) { ++engineClock(engine)[engine.value]; }

  /// An instruction enters its queue. Its number there, from 1.
  uint32_t issue(QueueId queue);

  /// The oldest instruction that ring `ring` still owes completes there, and raises `sema`, if any.
  void deliver(QueueId queue, uint32_t ring, SemaId sema, uint64_t amount, uint32_t who);

  /// The sequencer raises a semaphore itself.
  void signal(EngineId engine, SemaId sema, uint64_t amount, uint32_t who);

  /// A wait passes. A threshold of 0 waits for nothing.
  void wait(EngineId engine, SemaId id, uint64_t threshold, uint32_t who);

  /// A wait as if it asked for no more than the first `number` completions of `queue`, which alone
  /// raises its semaphore.
  void waitForNumber(EngineId engine, SemaId id, QueueId queue, uint32_t number);

  void reset(EngineId engine, SemaId first, uint32_t count, uint32_t who);

  /// All instructions of the engine have completed.
  void drain(EngineId engine);

  /// The run ended with the engine blocked at this wait.
  void blocked(EngineId engine, SemaId sema, uint32_t who);

  /// The run has ended; to be called before unsettled().
  void finish();

  //===--- Answers --------------------------------------------------------===//

  /// How many instructions of `queue` have surely finished before `engine` goes on.
  uint32_t finished(QueueId queue, EngineId engine) const;

  /// How many instructions of `queue` the wait that just passed says have finished, by itself: 0
  /// if its semaphore is not raised by this queue alone.
  uint32_t forcedByWait(QueueId queue) const;

  uint64_t value(SemaId sema) const { return semas[sema].value; }

  /// What surely came before the engine's last step, which is included.
  Clock clockOf(EngineId engine) const;

  /// Why the run does not decide, once for each kind, semaphore and pair of events; empty if it
  /// does.
  const std::vector<Unsettled> &unsettled() const { return reasons.all(); }

  //===--- Components -----------------------------------------------------===//

  uint32_t componentOf(EngineId engine) const { return engine.value; }

  uint32_t componentOf(QueueId queue, uint32_t ring) const { return firstRing[queue] + ring; }

  uint32_t numRings(QueueId queue) const { return rings[queue]; }

  uint32_t numComponents() const { return width; }

private:
  /// The last event of one component on one semaphore.
  struct Mark {
    uint32_t component;
    uint32_t tick;
    uint32_t who;
  };

  /// What is known of a semaphore since it was last zero.
  struct Sema {
    uint64_t value = 0;
    std::vector<uint64_t> reached; ///< the value after each raise
    std::vector<uint32_t> clocks;  ///< for each raise, of it and all before it
    std::vector<Mark> raisers;     ///< the last raise of each component
    std::optional<Mark> last;      ///< the last raise
    bool isOrdered = true;         ///< each raise surely came after the one before it
    std::vector<Mark> waiters;     ///< the last wait of each engine
    uint64_t smallestRaise = UINT64_MAX;
    uint64_t smallestWait = UINT64_MAX;
    uint32_t smallestWaitBy = 0;
    std::optional<Mark> reset; ///< what made it zero
  };

  /// Instructions of one queue that have not completed on all rings.
  struct InFlight {
    std::deque<Clock> starts; ///< from instruction number `first` on
    uint32_t first = 1;
    uint32_t issued = 0;
    std::vector<uint32_t> delivered; ///< by ring
    std::vector<Clock> last;         ///< by ring: of the last completion
  };

  uint32_t *engineClock(EngineId engine) {
    return engineClocks.data() + size_t(engine.value) * width;
  }

  const uint32_t *engineClock(EngineId engine) const {
    return engineClocks.data() + size_t(engine.value) * width;
  }

  void raise(SemaId id, uint64_t amount, const uint32_t *clock, uint32_t component, uint32_t who);
  void appendRaise(Sema &sema, uint64_t amount, const uint32_t *clock);
  void checkAfterReset(Unsettled::Kind kind, SemaId sema, const uint32_t *clock, uint32_t who);
  void checkMixed(SemaId id);
  static void remember(std::vector<Mark> &marks, Mark mark);
  void join(uint32_t *into, const uint32_t *from) const;

  uint32_t width = 0;
  uint64_t limit;   ///< the first value that a wait reads as something else
  uint64_t modulus; ///< the first value that is 0 again
  IdVector<QueueId, uint32_t> firstRing;
  IdVector<QueueId, uint32_t> rings;
  IdVector<QueueId, EngineId> engineOfQueue;
  std::vector<uint32_t> engineClocks; ///< one after the other
  IdVector<QueueId, InFlight> inFlight;
  IdVector<SemaId, Sema> semas;
  uint32_t forcedComponent = UINT32_MAX; ///< of the last wait: the one that raised it alone
  uint32_t forcedTick = 0;
  UnsettledList reasons;
};

} // namespace tally

#endif // TALLY_CHECK_HAPPENSBEFORE_H
