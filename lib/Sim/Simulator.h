//===- Simulator.h - The state of one simulated run -----------------------===//
//
// Actors, in the order in which those of one time come:
//
//   queues     what they will raise, and when: known once an instruction has started
//   engines    what their own signals will raise
//   transfers  starts and ends on all queues that hold transfers, together
//   engines    the sequencers
//
// A queue without transfers needs no event for its starts: when an instruction starts and finishes
// follows from its arrival and from the one before it. A sequencer goes on without an event
// as long as it would be the next anyway; only what other actors can see has to come in order.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_SIM_SIMULATOR_H
#define TALLY_LIB_SIM_SIMULATOR_H

#include "CriticalPath.h"
#include "Events.h"

#include "tally/Run/Interpret.h"
#include "tally/Sim/Simulate.h"

#include <deque>

namespace tally::sim {

/// What decides the cost of an operation, apart from its kind.
struct SimOp {
  bool isFree = false;      ///< a bracket around no instruction, where synchronisation is free
  bool isAtOnce = false;    ///< an addition made once for all iterations
  WrittenLoop written = {}; ///< of LoopBegin; of the loop around a wait that is tested once a pass
};

/// One addition to a semaphore that is on its way.
struct Raise {
  Tick at = 0;
  SemaId semaphore;
  uint32_t amount = 0;
  PathNode node = pathStart;
  uint32_t op = 0; ///< of the engine whose queue or sequencer it is
  Tick start = 0;
};

enum class EngineState : uint8_t {
  Ready,
  Waiting,   ///< for a semaphore
  QueueFull, ///< for a queue with transfers
  Draining,  ///< for a queue with transfers
  Done,
};

struct SimEngine {
  SimEngine(EngineId id, EngineRun run) : id(id), run(std::move(run)) {}

  uint32_t at() const { return run.at(); }

  EngineId id;
  EngineRun run;
  std::vector<SimOp> ops;
  EngineState state = EngineState::Ready;
  uint32_t threshold = 0;  ///< Waiting
  IdRange<QueueId> drains; ///< Draining: those whose instructions have to retire
  IdRange<QueueId> loads;  ///< the queue of an instruction that loads a value for it; or none
  Tick now = 0;
  Tick blockedSince = 0;
  uint32_t firstOp = 0;      ///< of this engine in numbers over all engines
  std::deque<Raise> raises;  ///< by its own signals
  PathNode base = pathStart; ///< the last node of its time; all since `baseAt` was control
  Tick baseAt = 0;
};

/// A time that others may have to wait for, and what it was due to.
struct Due {
  Tick at = 0;
  PathNode node = pathStart;
};

/// An instruction that has arrived in a queue: its times as far as they are known, and when it may
/// start.
struct Arrival {
  Execution execution;
  Due ready;
};

struct SimQueue {
  QueueId id;
  EngineId engine;
  uint32_t depth = 1;
  uint32_t numShares = 1; ///< of a split completion
  bool hasTransfers = false;
  Due next;               ///< when the next instruction may start
  Due lastRetire;         ///< first share of the last instruction that has started
  std::deque<Due> starts; ///< without transfers: of the last `depth` instructions
  Tick coveredUntil = 0;  ///< busy time is counted up to there
  std::deque<Raise> raises;
  // With transfers:
  std::deque<Arrival> waiting; ///< arrived, not started
  bool isActive = false;       ///< the instruction below has started and leaves no room for another
  Arrival current;
  Due start;
  uint64_t remaining = 0; ///< of a transfer, in parts of a picosecond at full bandwidth
  EngineId blocked;       ///< waits for room
};

class Simulator {
public:
  Simulator(const Kernel &kernel, const Code &code, const Machine &machine, const Timing &timing,
            const InstrCosts &costs, const Bindings &bindings, const SimOptions &options);

  SimResult run();

private:
  // Simulate.cpp: set-up, order of events, results.
  void makeEngines();
  void makeQueues();
  void schedule(uint32_t actor, Tick time);
  void deliver(std::deque<Raise> &raises, uint32_t actor, EngineId engine, QueueId queue);
  void raise(const Raise &raise, EngineId engine, QueueId queue);
  void wake(SimEngine &engine, const Raise &raise, EngineId by, QueueId byQueue);
  void collectPath();
  void finish();
  void sumUp(const SimEngine &engine, EngineStats &stats) const;
  void sumUpPath();

  // Deadlock.cpp.
  void findDeadlock();
  EngineId raiserOf(const StuckEngine &waiter) const;

  // Engines.cpp: sequencers.
  void runEngine(SimEngine &engine);
  bool execute(SimEngine &engine);
  bool isLeftOut(const SimEngine &engine, const Op &op) const;
  bool mayPass(SimEngine &engine, const Op &op);
  bool executeIssue(SimEngine &engine, const Op &op);
  bool hasRoom(SimEngine &engine, SimQueue &queue);
  bool executeDrain(SimEngine &engine);
  bool haveRetired(SimEngine &engine, IdRange<QueueId> drained);
  void executeSignal(SimEngine &engine, const Op &op);
  void executeReset(const Op &op, Tick now);
  void beginLoop(SimEngine &engine);
  void endLoop(SimEngine &engine);
  void noteIteration(const SimEngine &engine);

  void spend(SimEngine &engine, Tick span) { spend(engine, engine.at(), span); }

  void spend(SimEngine &engine, uint32_t at, Tick span);
  void stall(SimEngine &engine, Stall kind, const Due &until);
  void goOn(SimEngine &engine, Stall kind, const Due &until);
  void stop(SimEngine &engine, EngineState state);
  PathNode here(SimEngine &engine);
  bool passes(uint32_t value, uint32_t threshold) const;

  // Queues.cpp.
  void arrive(SimEngine &engine, SimQueue &queue, InstrId instr, Tick arrival);
  void startNow(SimQueue &queue, Execution &execution, Due start);
  void complete(SimQueue &queue, Execution &execution, Due finish);
  PathNode lastShareNode(const SimQueue &queue, uint32_t op, uint32_t share);
  void sendOff(SimQueue &queue, const Op &op, const Execution &execution);
  void runTransfers(Tick now);
  void advanceTransfers(Tick now);
  void endOne(SimQueue &queue, Tick now);
  void beginOne(SimQueue &queue, Tick now);
  void scheduleTransfers(Tick now);
  bool isDone(const SimQueue &queue, Tick now) const;

  bool isTransferring(const SimQueue &queue) const {
    return queue.isActive && costs[queue.current.execution.instr].isTransfer;
  }

  bool isSettled(const SimQueue &queue) const;
  Tick nextStart(SimQueue &queue) const;
  void resumeDrain(SimEngine &engine, Tick now);
  Tick jitter(Tick span, InstrId instr, uint64_t run, uint64_t salt) const;

  uint32_t actorOf(QueueId id) const { return id.value; }

  uint32_t signalActor(EngineId id) const {
    return static_cast<uint32_t>(queues.size()) + id.value;
  }

  uint32_t transferActor() const {
    return static_cast<uint32_t>(queues.size() + kernel.engines.size());
  }

  uint32_t actorOf(EngineId id) const { return transferActor() + 1 + id.value; }

  PathNode pathNode(PathNode parent, PathKind kind, EngineId engine, uint32_t op, Tick span) {
    if (!options.criticalPath || span == 0) {
      return parent;
    }
    return path.add(parent, kind, engines[engine].firstOp + op, span);
  }

  const Kernel &kernel;
  const Code &code;
  const Machine &machine;
  const Timing timing;
  const InstrCosts &costs;
  const Bindings &bindings;
  const SimOptions &options;
  SimObserver *observer;
  uint32_t counterMask;
  uint32_t sign; ///< flipped before comparing: turns signed into unsigned order

  IdVector<EngineId, SimEngine> engines;
  IdVector<QueueId, SimQueue> queues;
  std::vector<QueueId> transferQueues;
  IdVector<SemaId, uint32_t> semaphores;
  IdVector<SemaId, uint64_t> waiters; ///< engines, one bit each
  IdVector<InstrId, uint64_t> runs;
  EventTree events;
  Moment limit;              ///< a sequencer goes on up to the next event of others
  Tick transfersAt = 0;      ///< work is counted up to there
  Tick nextTransfer = never; ///< the next start or end
  uint64_t numSharing = 0;   ///< transfers that share the bandwidth
  Due end;                   ///< the latest so far
  CriticalPath path;
  SimResult result;
};

} // namespace tally::sim

#endif // TALLY_LIB_SIM_SIMULATOR_H
