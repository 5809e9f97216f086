//===- Impl.h - What the engines may do next, as compiled -----------------===//
//
// The transition system of code: all engines, their queues, and the semaphores between
// them. It knows the kernel only as the tree that the code walks; dependences mean nothing here.
//
//   engine    executes its operations in order; a wait blocks it, and so does an instruction
//             whose queue is full
//   queue     holds instructions in flight; each commits (has its effect on memory) some
//             time after it was issued, in any order if the machine lets instructions of one
//             queue overlap; they retire in order and then signal
//   split     a queue whose weight w arrives one by one: it has w rings, each of which
//             delivers once for each instruction, in order of issue but at its own pace
//
// Registers and semaphores have the machine's width and wrap around; waits compare as the machine
// does. Control never reads what instructions write, so with trips bound each engine executes one
// fixed sequence of operations with fixed register values. It is written down once (a
// *trajectory*), and a state only says how far each engine has come. The instructions in flight on
// a queue are likewise a stretch of the fixed sequence in which its engine issues them.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_CHECK_IMPL_H
#define TALLY_CHECK_IMPL_H

#include "tally/Check/Datapath.h"
#include "tally/Check/Step.h"
#include "tally/Code/Code.h"
#include "tally/Machine/Machine.h"
#include "tally/Model/Bindings.h"

#include <algorithm>

namespace tally {

struct ImplOptions {
  uint32_t inFlight = 4; ///< instructions that each queue holds, 1 to maxInFlight
  /// Operations executed by all engines together; beyond, complete() says no.
  Fuel maxOperations = 20'000'000;
  /// What instructions do to memory; none: nothing. Must outlive the system; commits add values.
  Datapath *datapath = nullptr;
};

/// One executed operation.
struct ImplPoint {
  uint32_t op = 0;        ///< index into EngineProgram::ops
  uint32_t run = 0;       ///< Issue: which run of the instruction, from 0
  uint32_t threshold = 0; ///< of its wait
};

/// Where all engines, queues and semaphores stand. A few flat arrays: copying is cheap, and equal
/// states are equal arrays.
struct ImplState {
  IdVector<EngineId, uint32_t> at; ///< operations executed
  IdVector<QueueId, QueueState> queues;
  IdVector<SemaId, uint32_t> semaphores;
  std::vector<uint32_t> rings; ///< deliveries of each ring of each split queue; see firstRing()
  std::vector<ValueId> memory; ///< by cell; empty without a datapath

  bool operator==(const ImplState &other) const;
};

/// Why an engine does not go on.
struct Blocked {
  enum class Kind : uint8_t {
    No,        ///< it can execute its next operation
    Wait,      ///< a semaphore is too low
    QueueFull, ///< the queue of the instruction at its head has no room
    Drain,     ///< it waits for its own instructions to retire
    Finished,  ///< it has no operation left
  };
  Kind kind = Kind::No;
  const Op *op = nullptr; ///< at its head; null if finished
  SemaId semaphore;       ///< Wait
  uint32_t value = 0;     ///< Wait: what the semaphore holds
  uint32_t threshold = 0; ///< Wait: what it has to hold
  QueueId queue;          ///< QueueFull, Drain: one that is not empty
};

/// Is told what a step does, before any later step.
class ImplObserver {
public:
  virtual ~ImplObserver() = default;

  /// An engine passed a wait: its own (Wait) or that of an instruction (before onIssue).
  virtual void onWait(EngineId, SemaId, uint32_t /*threshold*/) {}

  virtual void onIssue(EngineId, QueueId, Instance) {}

  virtual void onCommit(QueueId, Instance) {}

  /// One ring's share of an instruction's signal has arrived; `semaphore` may be none.
  virtual void onDeliver(QueueId, uint32_t /*ring*/, Instance, SemaId /*semaphore*/,
                         uint32_t /*amount*/) {}

  /// An instruction left its queue. Its signal, if any, has arrived: by this step if completion is
  /// whole (amount > 0), otherwise by onDeliver before (amount = 0).
  virtual void onRetire(QueueId, Instance, SemaId /*semaphore*/, uint32_t /*amount*/) {}

  virtual void onSignal(EngineId, SemaId, uint32_t /*amount*/) {}

  virtual void onReset(EngineId, SemaId /*first*/, uint32_t /*count*/) {}

  /// All that the engine has issued has retired.
  virtual void onDrain(EngineId) {}
};

class ImplSystem {
public:
  /// For code that verifyCode() accepts and bindings of its kernel. The arguments must
  /// outlive the system. Runs all engines once, up to `maxOperations`.
  ImplSystem(const Kernel &kernel, const Code &code, const Machine &machine,
             const Bindings &bindings, const ImplOptions &options = {});

  /// Whether every engine reaches the end of its code within the limit, and no queue has more
  /// rings than maxRings. If not, engines stop early, and no answer may be drawn from that.
  bool complete() const { return isComplete; }

  static constexpr uint32_t maxRings = 64;

  ImplState initial() const;

  /// All steps that can happen, replacing what is in `steps`: engines first, then queues, each in
  /// the order of their ids.
  void enabled(const ImplState &state, std::vector<Step> &steps) const;

  /// Whether this one step can happen.
  bool isEnabled(const ImplState &state, const Step &step) const;

  /// Performs a step that is enabled.
  void apply(ImplState &state, const Step &step, ImplObserver *observer = nullptr) const;

  /// Whether all engines are at their end and nothing is in flight.
  bool finished(const ImplState &state) const;

  Blocked whyBlocked(const ImplState &state, EngineId engine) const;

  //===--- Looking inside -------------------------------------------------===//

  /// The operation at an engine's head; null at its end.
  const Op *head(const ImplState &state, EngineId engine) const {
    return headAt(engine, state.at[engine]);
  }

  const Op *headAt(EngineId engine, uint32_t at) const {
    const std::vector<ImplPoint> &points = trajectories[engine];
    return at < points.size() ? &code.engines[engine].ops[points[at].op] : nullptr;
  }

  /// All operations that an engine executes, in order.
  const std::vector<ImplPoint> &trajectory(EngineId engine) const { return trajectories[engine]; }

  /// Where in its engine's trajectory each instruction is that a queue takes, in order.
  const std::vector<uint32_t> &issuesOf(QueueId queue) const { return issues[queue]; }

  /// The n-th instruction that a queue takes, and the operation that issues it.
  Instance instanceAt(QueueId queue, uint32_t n) const;
  const Op &issueAt(QueueId queue, uint32_t n) const;

  /// Whether a semaphore with this value lets a wait pass.
  bool passes(uint32_t value, uint32_t threshold) const;

  /// Whether the wait of the engine's head, if any, passes. A full queue or a drain is not asked
  /// about.
  bool waitPasses(const ImplState &state, EngineId engine) const;

  /// The first of a split queue's rings in ImplState::rings.
  uint32_t firstRing(QueueId queue) const { return firstRings[queue]; }

  /// Whether a queue delivers by rings.
  bool isSplit(QueueId queue) const { return ringsOf(queue) > 1; }

  /// A queue of whole completion is one ring.
  uint32_t ringsOf(QueueId queue) const {
    return std::min(numRings(kernel.queues[queue]), maxRings);
  }

  /// The instruction that a ring completes next, as its number in the queue; it may not have been
  /// issued yet.
  uint32_t nextOf(const ImplState &state, QueueId queue, uint32_t ring) const {
    return isSplit(queue) ? state.rings[firstRings[queue] + ring] : state.queues[queue].retired;
  }

  /// The step by which a ring completes an instruction.
  Step completionOf(QueueId queue, uint32_t ring) const {
    EngineId engine = kernel.queues[queue].engine;
    return isSplit(queue) ? Step::deliver(engine, queue, ring) : Step::retire(engine, queue);
  }

  /// The step that executes the operation at an engine's head, which is not at its end.
  Step stepOf(const ImplState &state, EngineId engine) const {
    const Op &op = *head(state, engine);
    return op.kind == OpKind::Issue ? Step::issue(engine, kernel.instrs[op.instr()].queue)
                                    : Step::control(engine);
  }

  /// What ring `ring` of a queue adds when `op`, which it took, is delivered.
  uint32_t shareOf(QueueId queue, const Op &op, uint32_t ring) const;

  const Kernel &kernelOf() const { return kernel; }

  const Code &programOf() const { return code; }

  const Machine &machineOf() const { return machine; }

  const ImplOptions &optionsOf() const { return options; }

private:
  bool mayExecute(const ImplState &state, EngineId engine) const;
  QueueId holder(const ImplState &state, EngineId engine) const;
  bool mayComplete(const ImplState &state, QueueId queue, uint32_t ring) const;
  void execute(ImplState &state, EngineId engine, ImplObserver &observer) const;
  void commit(ImplState &state, QueueId queue, uint32_t place, ImplObserver &observer) const;
  void complete(ImplState &state, QueueId queue, uint32_t ring, ImplObserver &observer) const;
  void raise(ImplState &state, SemaId semaphore, uint32_t amount) const;

  const Kernel &kernel;
  const Code &code;
  const Machine &machine;
  ImplOptions options;
  IdVector<EngineId, std::vector<ImplPoint>> trajectories;
  IdVector<QueueId, std::vector<uint32_t>> issues;
  IdVector<QueueId, uint32_t> firstRings;
  uint32_t numSplitRings = 0;
  uint32_t counterMask = 0;
  bool isComplete = true;
};

} // namespace tally

#endif // TALLY_CHECK_IMPL_H
