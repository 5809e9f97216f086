//===- RaceRun.h - One schedule, watched ----------------------------------===//
//
// Steps the code of all engines through one schedule and asks, each time an instruction is issued,
// about everything that has to come before it:
//
//   accesses      what others wrote or read in the cells that it touches; and is this the order in
//                 which the text has them?
//   dependences   the runs of producers that the definition asks for
//
// Each is a place in the order of a queue, and must be covered by the clock of the issuing engine
// (HappensBefore.h). A queue without overlap keeps its own accesses in order, too: an instruction
// starts when the one before it is over. A dependence is about the issue, which does not wait for
// that; so it is held to the clock alone, as it is by the specification (Spec.h). The largest such
// place is also what a wait is for: one that asks for more is kept as a candidate for waiting too
// long.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_CHECK_RACERUN_H
#define TALLY_LIB_CHECK_RACERUN_H

#include "Meetings.h"
#include "MustOrder.h"

#include "tally/Check/HappensBefore.h"
#include "tally/Run/Owed.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>

namespace tally::check {

/// One choice of trips: what all schedules of one check share.
struct RaceSubject {
  RaceSubject(const Kernel &kernel, const Code &code, const Machine &machine,
              const Bindings &bindings, const ImplOptions &options);
  RaceSubject(const RaceSubject &) = delete;
  RaceSubject &operator=(const RaceSubject &) = delete;

  /// Whether all that the engines do is known.
  bool complete() const {
    return system.complete() && owed.complete() && (!datapath || datapath->complete());
  }

  uint32_t numberOf(EngineId engine, const Op &op) const {
    return firstOp[engine] + static_cast<uint32_t>(&op - code.engines[engine].ops.data());
  }

  /// See Meetings.h.
  bool isInTextBefore(Instance a, Instance b) const {
    return check::isInTextBefore(kernel, owed, a, b);
  }

  const Kernel &kernel;
  const Code &code;
  const Machine &machine;
  const Bindings &bindings;
  const ImplSystem system;
  const Owed owed;
  const std::unique_ptr<const Datapath> datapath; ///< none if the kernel has no accesses
  IdVector<EngineId, uint32_t> firstOp;           ///< numbers the operations of all engines
  IdVector<SemaId, bool> isWaitedFor;             ///< see waitedFor()
};

/// The last accesses of one queue to a cell, as numbers of instructions; 0: none.
struct CellMarks {
  std::array<uint32_t, 3> last = {};

  uint32_t &operator[](AccessKind kind) { return last[static_cast<size_t>(kind)]; }

  uint32_t operator[](AccessKind kind) const { return last[static_cast<size_t>(kind)]; }

  /// The last that wrote and has to come before an access; `addUp`: accumulations of this queue and
  /// of the one that accesses follow one another by themselves.
  uint32_t writerBefore(AccessKind kind, bool addUp) const {
    bool isNext = kind == AccessKind::Accumulate && addUp;
    return std::max((*this)[AccessKind::Write], isNext ? 0 : (*this)[AccessKind::Accumulate]);
  }

  uint32_t readerBefore(AccessKind kind) const {
    return kind == AccessKind::Read ? 0 : (*this)[AccessKind::Read];
  }
};

/// Two instructions that are not ordered as they should be.
struct OrderFault {
  Instance earlier; ///< issued first, or not at all yet
  Instance later;
  bool swapped = false; ///< in the order of the text the later one comes first
  DepId dep;            ///< the dependence that asks for it; none: an access does
  bool earlierWrites = false, laterWrites = false;
  bool earlierIssued = true;
  bool reversed = false; ///< the code orders them, the wrong way round
  uint64_t count = 0;    ///< of such pairs in the run

  Instance producer() const { return swapped ? later : earlier; }

  Instance consumer() const { return swapped ? earlier : later; }
};

/// A wait that asked for more than anything after it does.
struct ExcessRun {
  uint32_t at = 0;     ///< in the trajectory of its engine
  uint32_t needed = 0; ///< completions of the queue that would do
};

struct WaitExcess {
  EngineId engine;
  QueueId queue; ///< that alone raises the semaphore
  std::vector<ExcessRun> runs;
  uint64_t held = 0; ///< of these, how many were not met when the engine came to them
};

class RaceRun : ImplObserver {
public:
  /// Judges by what surely comes before in this run; with `must`, by what does in every schedule.
  explicit RaceRun(const RaceSubject &subject, const MustOrder *must = nullptr);

  /// Lets waits of one operation join less: `relaxed` by place in the trajectory of `engine`.
  void relax(EngineId engine, const WaitExcess &excess);

  /// Performs one step, which must be enabled.
  void apply(const Step &step);

  /// To be called when nothing can happen any more.
  void finish();

  /// How often the wait of an operation passed.
  uint64_t passesOf(uint32_t op) const;

  bool deadlocked() const { return !subject.system.finished(state); }

  const RaceSubject &subject;
  ImplState state;
  HappensBefore order;
  std::vector<Step> steps;
  std::vector<OrderFault> faults;
  std::map<uint32_t, WaitExcess> excesses; ///< by number of the operation; only those with runs

private:
  void onWait(EngineId, SemaId, uint32_t) override;
  void onIssue(EngineId, QueueId, Instance) override;
  void onDeliver(QueueId, uint32_t ring, Instance, SemaId, uint32_t amount) override;
  void onRetire(QueueId, Instance, SemaId, uint32_t amount) override;
  void onSignal(EngineId, SemaId, uint32_t amount) override;
  void onReset(EngineId, SemaId first, uint32_t count) override;
  void onDrain(EngineId) override;

  struct Pending {
    uint32_t op = UINT32_MAX;
    uint32_t at = 0;
    uint32_t forced = 0; ///< completions it asked for
    uint32_t needed = 0; ///< completions that something after it asked for
    bool held = false;
    bool wasUsed = false;      ///< an instruction came after it
    bool hasSignalled = false; ///< the sequencer told others
  };

  Pending &pendingOf(EngineId engine, QueueId queue) {
    return pending[engine.value * subject.kernel.queues.size() + queue.value];
  }

  uint32_t opAt(EngineId engine, uint32_t at) const;
  uint32_t currentOp(EngineId engine) const;
  uint32_t opOfInstance(QueueId queue, uint32_t number) const;
  void checkDeps(QueueId queue, Instance instance);
  void checkCell(CellId cell, QueueId queue, Instance instance, AccessKind kind);
  CellMarks &marksOf(CellId cell, QueueId queue);
  bool isOverAtIssue(QueueId earlier, uint32_t number, QueueId later) const;
  void addFault(OrderFault fault);
  void noteWait(EngineId engine, SemaId sema, uint32_t threshold);
  void closePending(EngineId engine, QueueId queue);
  void noteArrival(EngineId engine);

  const MustOrder *must;
  uint32_t current = 0; ///< the instruction being issued, in its queue
  std::vector<std::vector<std::pair<QueueId, CellMarks>>> cells; ///< by cell
  IdVector<InstrId, std::vector<uint32_t>> numbers;              ///< of each run, in its queue
  IdVector<QueueId, uint32_t> needed;  ///< for the instruction being issued
  std::vector<Pending> pending;        ///< by engine and queue
  IdVector<EngineId, bool> isHeld;     ///< the engine found its wait not passing
  std::map<uint32_t, uint64_t> passes; ///< by operation

  struct KnownFault {
    size_t index;            ///< of `faults`
    Instance earlier, later; ///< the pair that was counted last
  };

  std::map<std::tuple<InstrId, InstrId, bool>, KnownFault> faultOf;
  std::map<uint32_t, uint32_t> relaxed;
  EngineId relaxedEngine;
  QueueId relaxedQueue;
};

} // namespace tally::check

#endif // TALLY_LIB_CHECK_RACERUN_H
