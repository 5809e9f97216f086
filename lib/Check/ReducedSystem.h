//===- ReducedSystem.h - What can happen next, and what it does -----------===//
//
// Both systems of the reduced walk (Reduced.cpp) in one position: what the code can do and what the
// kernel may, and the positions that follow. Decides nothing about orders.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_CHECK_REDUCEDSYSTEM_H
#define TALLY_LIB_CHECK_REDUCEDSYSTEM_H

#include "ReducedTables.h"

#include <algorithm>

namespace tally::reduced {

/// A state in full; small, copied often.
struct Position {
  IdVector<EngineId, uint32_t> at; ///< acts
  IdVector<EngineId, uint32_t> numIssued;
  IdVector<QueueId, uint32_t> issued;
  IdVector<QueueId, uint32_t> retired;
  IdVector<SemaId, uint32_t> semaphores;
  std::vector<uint32_t> rings;
};

/// One thing that happened: an act, a retirement, or a delivery.
struct Event {
  enum class Kind : uint8_t { Act, Retire, Deliver };
  Kind kind = Kind::Act;
  uint32_t who = 0;  ///< an engine; Retire, Deliver: a queue
  uint32_t ring = 0; ///< Deliver

  EngineId engine() const { return EngineId(who); }

  QueueId queue() const { return QueueId(who); }
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
  Position initial() const {
    Position position;
    position.at.assign(kernel.engines.size(), 0);
    position.numIssued.assign(kernel.engines.size(), 0);
    position.issued.assign(kernel.queues.size(), 0);
    position.retired.assign(kernel.queues.size(), 0);
    position.semaphores.assign(tables.code.semaphores.size(), 0);
    position.rings.assign(impl.initial().rings.size(), 0);
    return position;
  }

  /// The next act of an engine; null at its end.
  const Act *headOf(const Position &position, EngineId e) const {
    uint32_t at = position.at[e];
    return at < tables.acts[e].size() ? &tables.acts[e][at] : nullptr;
  }

  /// Whether the engine can execute its next act, issues out of order included.
  bool canAct(const Position &position, EngineId e, const Act &act) const {
    return waitPasses(position, act) &&
           (act.kind != OpKind::Issue || hasRoom(position, act.queue)) &&
           (act.kind != OpKind::Drain || isDrained(position, e));
  }

  /// What the kernel has next on an engine; null at its end.
  const SpecIssue *nextOfSpec(const Position &position, EngineId e) const {
    uint32_t n = position.numIssued[e];
    return n < tables.issues[e].size() ? &tables.issues[e][n] : nullptr;
  }

  /// The first thing asked that has not retired yet.
  const Ask *unmet(const Position &position, const SpecIssue &issue) const {
    auto isUnmet = [&](const Ask &ask) { return position.retired[ask.queue] < ask.count; };
    auto found = std::ranges::find_if(issue.asks, isUnmet);
    return found != issue.asks.end() ? &*found : nullptr;
  }

  /// Whether the kernel may issue that.
  bool specMayIssue(const Position &position, EngineId e) const {
    const SpecIssue *next = nextOfSpec(position, e);
    return next && hasRoom(position, next->queue) && !unmet(position, *next);
  }

  /// What an engine does to others; it can be executed.
  void execute(Position &position, EngineId e, const Act &act) const {
    ++position.at[e];
    if (act.kind == OpKind::Issue) {
      ++position.issued[act.queue];
      ++position.numIssued[e];
    } else if (act.kind == OpKind::Signal) {
      raise(position, act.signal, act.amount);
    } else if (act.kind == OpKind::Reset) {
      std::fill_n(position.semaphores.begin() + act.signal.value, act.amount, 0);
    }
  }

  /// The oldest in flight of a queue of whole completion.
  void retire(Position &position, QueueId queue) const {
    const Taken &instr = tables.taken[queue][position.retired[queue]++];
    if (instr.signal.valid()) {
      raise(position, instr.signal, instr.amount);
    }
  }

  /// One ring of a split queue delivers its share.
  void deliver(Position &position, QueueId queue, uint32_t ring) const {
    uint32_t *rings = position.rings.data() + impl.firstRing(queue);
    const Op &op = impl.issueAt(queue, rings[ring]++);
    if (uint32_t share = impl.shareOf(queue, op, ring)) {
      raise(position, op.signal, share);
    }
    position.retired[queue] = *std::min_element(rings, rings + impl.ringsOf(queue));
  }

  /// What holds an engine back from its next instruction, if its own operations cannot get it
  /// there.
  std::optional<Mismatch> lateness(const Position &position, EngineId e) const {
    scratch = position;
    const Act *act = headOf(scratch, e);
    for (; act && canAct(scratch, e, *act); act = headOf(scratch, e)) {
      if (act->kind == OpKind::Issue) {
        return {};
      }
      execute(scratch, e, *act);
    }
    Mismatch mismatch = mismatchOf(position, e, MismatchKind::Late);
    mismatch.atReset = act && tables.lockstep.isAtReset(e, act->point);
    if (act && !waitPasses(scratch, *act)) {
      mismatch.semaphore = act->wait;
      mismatch.value = scratch.semaphores[act->wait];
      mismatch.threshold = act->threshold;
    }
    return mismatch;
  }

  /// About what the kernel has next on an engine.
  Mismatch mismatchOf(const Position &position, EngineId e, MismatchKind kind) const {
    const SpecIssue *next = nextOfSpec(position, e);
    Mismatch mismatch;
    mismatch.kind = kind;
    mismatch.engine = e;
    mismatch.instance = next ? next->instance : Instance();
    return mismatch;
  }

  /// Queues that were full when an engine had something for them; decides nothing.
  const std::set<QueueId> &fullQueues() const { return full; }

private:
  bool waitPasses(const Position &position, const Act &act) const {
    return !act.wait.valid() || impl.passes(position.semaphores[act.wait], act.threshold);
  }

  /// Asked only where the engine has something for this queue.
  bool hasRoom(const Position &position, QueueId q) const {
    bool has = position.issued[q] - position.retired[q] < inFlight;
    if (!has) {
      full.insert(q);
    }
    return has;
  }

  bool isDrained(const Position &position, EngineId e) const {
    for (QueueId q : kernel.engines[e].queues) {
      if (position.issued[q] != position.retired[q]) {
        return false;
      }
    }
    return true;
  }

  void raise(Position &position, SemaId semaphore, uint32_t amount) const {
    uint64_t mask = (uint64_t(1) << tables.machine.counterBits) - 1;
    uint32_t &value = position.semaphores[semaphore];
    value = static_cast<uint32_t>((value + uint64_t(amount)) & mask);
  }

  const uint32_t inFlight; ///< of a queue, at most
  mutable Position scratch;
  mutable std::set<QueueId> full;
};

} // namespace tally::reduced

#endif // TALLY_LIB_CHECK_REDUCEDSYSTEM_H
