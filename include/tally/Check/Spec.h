//===- Spec.h - What the engines may do next, as specified ----------------===//
//
// The transition system of a kernel and its dependences: no semaphores, no registers. An
// instruction may be issued when each of its dependences is satisfied, and that is decided by
// counting in the history of loop entries and of retirements (Run/Owed.h).
//
// H is the consumer's engine's own and grows as the engine enters bodies. The root is entered at
// the start. Zero trips change nothing: older entries still count.
//
// As control never depends on memory, an engine's H is a function of how far it has come, and is
// written down once for all states.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_CHECK_SPEC_H
#define TALLY_CHECK_SPEC_H

#include "tally/Check/Datapath.h"
#include "tally/Check/Step.h"
#include "tally/Run/Owed.h"

#include <span>

namespace tally {

/// Another reading of the rules, for tests: that it is wrong has to be noticed.
struct SpecReading {
  IdVector<LoopId, LoopId>
      countsAs;                    ///< an entry of a body is one of this body, too; empty: of none
  IdVector<DepId, bool> neverOwed; ///< empty: none
};

struct SpecOptions {
  uint32_t inFlight = 4;        ///< as in ImplOptions
  bool queueOverlap = true;     ///< as in Machine
  Fuel maxPoints = 20'000'000;  ///< entries, exits and runs of all engines together
  Datapath *datapath = nullptr; ///< as in ImplOptions
  SpecReading reading = {};     ///< not for verdicts
};

/// One thing that an engine does: it enters or leaves a body, or issues an instruction.
struct SpecPoint {
  enum class Kind : uint8_t { Enter, Leave, Issue };
  Kind kind = Kind::Enter;
  uint32_t id = 0;  ///< of the body or the instruction
  uint32_t run = 0; ///< Enter: which entry; Issue: which run, from 0

  LoopId loop() const { return LoopId(id); }

  InstrId instr() const { return InstrId(id); }
};

struct SpecState {
  IdVector<EngineId, uint32_t> at; ///< points passed
  IdVector<QueueId, QueueState> queues;
  IdVector<InstrId, uint32_t> retirements;
  std::vector<ValueId> memory; ///< by cell; empty without a datapath

  bool operator==(const SpecState &other) const;
};

class SpecSystem {
public:
  /// For a kernel that check() accepts. The arguments must outlive the system.
  SpecSystem(const Kernel &kernel, const Bindings &bindings, const SpecOptions &options = {});

  /// Whether every engine reaches the end within the limit.
  bool complete() const { return isComplete; }

  SpecState initial() const;

  /// All steps that can happen, as in ImplSystem::enabled; there are no Deliver steps.
  void enabled(const SpecState &state, std::vector<Step> &steps) const;
  bool isEnabled(const SpecState &state, const Step &step) const;
  void apply(SpecState &state, const Step &step) const;

  /// The same, but an issue need not be ready: what becomes of a run in which code went ahead.
  void follow(SpecState &state, const Step &step) const;
  bool finished(const SpecState &state) const;

  /// How many retirements of its producer one run of a consumer is owed by a dependence. For runs
  /// that do not exist, 0.
  uint32_t need(DepId dep, uint32_t consumerRun) const { return owed.of(dep, consumerRun); }

  /// Whether all dependences of this run are satisfied after these retirements; `unmet`, if given,
  /// becomes the first that is not.
  bool ready(Instance instance, const IdVector<InstrId, uint32_t> &retirements,
             DepId *unmet = nullptr) const;

  /// The dependences of a consumer.
  std::span<const DepId> depsOf(InstrId consumer) const { return owed.depsOf(consumer); }

  const std::vector<SpecPoint> &trajectory(EngineId engine) const { return trajectories[engine]; }

  /// The point at which an engine stands; null at its end.
  const SpecPoint *head(const SpecState &state, EngineId engine) const;

  /// All instructions that an engine issues, in order.
  const std::vector<Instance> &issuesOf(EngineId engine) const { return engineIssues[engine]; }

  /// All instructions that a queue takes, in order.
  const std::vector<Instance> &issuesOf(QueueId queue) const { return queueIssues[queue]; }

  /// `'load' at A=2, B=1`
  std::string describe(Instance instance) const;

  const Kernel &kernelOf() const { return kernel; }

private:
  void walk(EngineId engine, class KernelCursor &cursor);

  const Kernel &kernel;
  SpecOptions options;
  bool isComplete = true;
  IdVector<EngineId, std::vector<SpecPoint>> trajectories;
  IdVector<EngineId, std::vector<Instance>> engineIssues;
  IdVector<QueueId, std::vector<Instance>> queueIssues;
  Owed owed;
};

} // namespace tally

#endif // TALLY_CHECK_SPEC_H
