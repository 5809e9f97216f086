//===- Simulate.h - Code of a kernel, executed in time --------------------===//
//
// One run of code on a machine, event by event, in whole picoseconds. It is the transition
// system of Check/Impl.h with a time for each step; nothing is left to chance.
//
//   sequencer   executes operations in order, each for its price. A wait stops it until the
//               semaphore is high enough, a full queue until there is room, a drain until
//               its queues are empty
//   queue       an instruction arrives, starts (after the one before it, and at most `depth`
//               wait for that), finishes, and retires in order; then it raises its semaphore
//   transfer    as above; while several queues transfer, each gets the same share of the bandwidth
//
// Order within one picosecond: first semaphores are raised, then transfers start and end, then
// engines go on, each by its number. So a wait that is tested at t sees all that is raised at t,
// and a raise at the very moment of the test costs no wake.
//
// Memory does not depend on how long the run is: nothing is kept of the past but sums.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_SIM_SIMULATE_H
#define TALLY_SIM_SIMULATE_H

#include "tally/Code/Code.h"
#include "tally/Machine/Timing.h"
#include "tally/Model/Bindings.h"
#include "tally/Support/Stop.h"

#include <array>

namespace tally {

using InstrCosts = IdVector<InstrId, InstrCost>;

/// What each instruction of a kernel costs. Errors stand at the instructions; remarks say what
/// costs as `cost.default`: operations that the machine does not know, instructions that name none.
std::optional<InstrCosts> instructionCosts(const Kernel &kernel, const Timing &timing,
                                           Diagnostics &diagnostics);

/// Why a sequencer stands still.
enum class Stall : uint8_t {
  Wait,      ///< a semaphore is too low, or its waiter is being woken
  QueueFull, ///< the queue of the instruction at its head has no room
  Drain,     ///< its own instructions have not retired
};

/// One instruction's way through its queue.
struct Execution {
  InstrId instr;
  QueueId queue;
  uint32_t op = 0;   ///< that issued it, in its engine's code
  uint64_t run = 0;  ///< from 0
  Tick arrival = 0;  ///< in the queue
  Tick start = 0;    ///< a transfer: of its first byte
  Tick occupied = 0; ///< until then no other may start; a transfer: its last byte
  Tick finish = 0;
  Tick retire = 0; ///< raises its semaphore; if completion is split, the first share
};

/// What made a blocked wait pass.
struct Release {
  EngineId engine; ///< that waited
  uint32_t op = 0; ///< the wait
  Tick from = 0;   ///< blocked since
  Tick to = 0;     ///< goes on
  SemaId semaphore;
  EngineId by;       ///< whose operation or instruction raised the semaphore
  uint32_t byOp = 0; ///< that operation
  QueueId byQueue;   ///< none: an operation of the sequencer
  Tick byStart = 0;  ///< when that instruction started, or the operation was executed
  Tick raisedAt = 0;
  uint32_t threshold = 0; ///< that was waited for
};

/// What a piece of the critical path is.
enum class PathKind : uint8_t {
  Control,  ///< a sequencer, up to this operation
  Startup,  ///< from the queue to the start
  Occupied, ///< an earlier instruction of the queue had not left room
  Execute,  ///< from the start to the finish; a transfer: with its last byte
  Visible,  ///< until the semaphore is raised
  Wake,     ///< until the waiter goes on
};
template <>
inline constexpr auto wordsOf<PathKind> =
    words("control", "startup", "occupied", "execute", "visible", "wake");
inline constexpr size_t numPathKinds = wordsOf<PathKind>.size();

/// A piece of the critical path, due to one operation of one engine. The pieces of a run follow one
/// another without a gap, from its beginning to its end.
struct PathPiece {
  EngineId engine;
  uint32_t op = 0;
  PathKind kind = PathKind::Control;
  Tick from = 0;
  Tick to = 0;
};

/// Is told what happens. Calls come in the order of causes; their times may run ahead of later
/// calls.
class SimObserver {
public:
  virtual ~SimObserver() = default;

  /// An engine begins an iteration of a loop, from 1.
  virtual void onIteration(EngineId, LoopId, uint64_t /*number*/) {}

  /// A sequencer executes an operation. Its wait, if any, passed at `from`.
  virtual void onOperation(EngineId, uint32_t /*op*/, Tick /*from*/, Tick /*to*/) {}

  virtual void onStall(EngineId, uint32_t /*op*/, Stall, Tick /*from*/, Tick /*to*/) {}

  /// After onStall for the same wait.
  virtual void onRelease(const Release &) {}

  virtual void onExecution(const Execution &) {}

  /// The next piece of the critical path, where SimOptions ask for that. Calls come long after the
  /// pieces, as soon as nothing can change them.
  virtual void onPath(const PathPiece &) {}

  /// A semaphore has this value from now on.
  virtual void onSemaphore(SemaId, Tick, uint32_t /*value*/) {}
};

struct SimOptions {
  /// Not 0: each instruction takes longer at random, up to `jitterPercent` of its duration (and a
  /// transfer of its startup). The same seed gives the same run.
  uint64_t seed = 0;
  uint32_t jitterPercent = 25;
  /// All that synchronises is free and takes effect at once: waits, signals, resets, drains,
  /// registers, wakes, and loops and branches in which an engine has no instruction.
  bool freeSync = false;
  uint64_t maxOperations = UINT64_MAX; ///< of all sequencers; beyond, the run is cut off
  uint64_t maxIssued = UINT64_MAX;     ///< instructions, likewise
  bool criticalPath = false;           ///< costs about as much time again
  size_t pathNodes = size_t(1) << 18;  ///< that its table holds before it is cleared up
  SimObserver *observer = nullptr;
  const StopFlag *stop = nullptr; ///< cuts the run off
};

/// Sums over all executions of one operation of the code.
struct OpStats {
  uint64_t runs = 0;
  Tick control = 0;   ///< sequencer, executing it
  Tick waiting = 0;   ///< blocked by its wait
  Tick queueFull = 0; ///< blocked by its queue
  Tick draining = 0;

  Tick sum() const { return control + waiting + queueFull + draining; }
};

/// Where the time of a sequencer goes: the parts, `done` among them, add up to the total.
struct EngineStats : OpStats {
  Tick done = 0; ///< after the end of its code
  std::vector<OpStats> ops;
};

struct QueueStats {
  uint64_t instructions = 0;
  Tick busy = 0;     ///< at least one instruction has started and not finished
  Tick occupied = 0; ///< no further instruction could have started
  Tick lastRetire = 0;
};

/// All of the critical path that is due to one operation of one engine.
struct PathShare {
  EngineId engine;
  uint32_t op = 0;
  std::array<Tick, numPathKinds> spans{};

  Tick sum() const;
};

/// An engine that can never go on.
struct StuckEngine {
  EngineId engine;
  uint32_t op = 0;
  SemaId semaphore;
  uint32_t value = 0;
  uint32_t threshold = 0;
  EngineId raiser; ///< one that could have raised it and is stuck, too; none is left
};

struct SimResult {
  enum class Outcome : uint8_t {
    Finished,
    Deadlock,
    CutOff, ///< by maxOperations or maxIssued; times are those so far
  };
  Outcome outcome = Outcome::Finished;
  Tick total = 0;
  uint64_t operations = 0;   ///< executed by sequencers
  uint64_t instructions = 0; ///< issued
  IdVector<EngineId, EngineStats> engines;
  IdVector<QueueId, QueueStats> queues;
  std::vector<PathShare> path;    ///< in the order of engines and operations; adds up to the total
  std::vector<StuckEngine> stuck; ///< Deadlock: by engine
  std::vector<EngineId> cycle;    ///< Deadlock: each waits for the next, the last for the first
};

/// Runs code that verifyCode() accepts. The machine is the one of the timing.
SimResult simulate(const Kernel &kernel, const Code &code, const Machine &machine,
                   const Timing &timing, const InstrCosts &costs, const Bindings &bindings,
                   const SimOptions &options = {});

/// Which engine waits for what, line by line, the cycle first.
std::string describeDeadlock(const Kernel &kernel, const Code &code, const SimResult &result);

} // namespace tally

#endif // TALLY_SIM_SIMULATE_H
