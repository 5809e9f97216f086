//===- ReducedSystem.h - What can happen next, and what it does -----------===//
//
// Both systems of the reduced walk (Reduced.cpp) in one position: what the code can do and what the
// kernel may, and the positions that follow. Decides nothing about orders.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_CHECK_REDUCEDSYSTEM_H
#define TALLY_LIB_CHECK_REDUCEDSYSTEM_H

#include "ReducedTables.h"

namespace tally::reduced {

/// A state in full; small, copied often.
struct Position {
  std::vector<uint32_t> at;        ///< by engine: acts
  std::vector<uint32_t> numIssued; ///< by engine
  std::vector<uint32_t> issued;    ///< by queue
  std::vector<uint32_t> retired;   ///< by queue
  std::vector<uint32_t> semaphores;
  std::vector<uint32_t> rings;
};

/// One thing that happened: an act, a retirement, or a delivery.
struct Event {
  enum class Kind : uint8_t { Act, Retire, Deliver };
  Kind kind = Kind::Act;
  uint32_t who = 0;  ///< engine or queue
  uint32_t ring = 0; ///< Deliver

  bool operator==(const Event &) const = default;
};

class ReducedSystem {
public:
  ReducedSystem(const Lockstep &lockstep, const ExploreOptions &options)
      : tables(lockstep, options.reduction), impl(lockstep.implOf()), kernel(impl.kernelOf()),
        inFlight(options.inFlight) {}

  const Tables tables;
  const ImplSystem &impl;
  const Kernel &kernel;

  /// Nothing has happened.
  Position initial() const;

  /// The next act of an engine; null at its end.
  const Act *headOf(const Position &position, EngineId e) const;

  /// Whether the engine can execute its next act, issues out of order included.
  bool canAct(const Position &position, EngineId e, const Act &act) const;

  /// What the kernel has next on an engine; null at its end.
  const SpecIssue *nextOfSpec(const Position &position, EngineId e) const;

  /// The first thing asked that has not retired yet.
  const Ask *unmet(const Position &position, const SpecIssue &issue) const;

  /// Whether the kernel may issue that.
  bool specMayIssue(const Position &position, EngineId e) const;

  /// What an engine does to others; it can be executed.
  void execute(Position &position, EngineId e, const Act &act) const;

  /// The oldest in flight of a queue of whole completion.
  void retire(Position &position, uint32_t queue) const;

  /// One ring of a split queue delivers its share.
  void deliver(Position &position, uint32_t queue, uint32_t ring) const;

  /// What holds an engine back from its next instruction, if its own operations cannot get it
  /// there.
  std::optional<Mismatch> lateness(const Position &position, EngineId e) const;

  /// Queues that were full when an engine had something for them; decides nothing.
  const std::set<QueueId> &fullQueues() const { return full; }

private:
  bool waitPasses(const Position &position, const Act &act) const;

  /// Asked only where the engine has something for this queue.
  bool hasRoom(const Position &position, QueueId q) const;

  bool isDrained(const Position &position, EngineId e) const;

  void raise(Position &position, SemaId semaphore, uint32_t amount) const;

  const uint32_t inFlight; ///< of a queue, at most
  mutable Position scratch;
  mutable std::set<QueueId> full;
};

} // namespace tally::reduced

#endif // TALLY_LIB_CHECK_REDUCEDSYSTEM_H
