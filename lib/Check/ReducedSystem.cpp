//===- ReducedSystem.cpp - What can happen next, and what it does ---------===//

#include "ReducedSystem.h"

#include <algorithm>

namespace tally::reduced {

Position ReducedSystem::initial() const {
  Position position;
  position.at.assign(kernel.engines.size(), 0);
  position.numIssued.assign(kernel.engines.size(), 0);
  position.issued.assign(kernel.queues.size(), 0);
  position.retired.assign(kernel.queues.size(), 0);
  position.semaphores.assign(tables.code.semaphores.size(), 0);
  position.rings.assign(impl.initial().rings.size(), 0);
  return position;
}

const Act *ReducedSystem::headOf(const Position &position, EngineId e) const {
  uint32_t at = position.at[e.value];
  return at < tables.acts[e].size() ? &tables.acts[e][at] : nullptr;
}

bool ReducedSystem::waitPasses(const Position &position, const Act &act) const {
  return !act.wait.valid() || impl.passes(position.semaphores[act.wait.value], act.threshold);
}

bool ReducedSystem::hasRoom(const Position &position, QueueId q) const {
  bool has = position.issued[q.value] - position.retired[q.value] < inFlight;
  if (!has) {
    full.insert(q);
  }
  return has;
}

bool ReducedSystem::isDrained(const Position &position, EngineId e) const {
  for (QueueId q : kernel.engines[e].queues) {
    if (position.issued[q.value] != position.retired[q.value]) {
      return false;
    }
  }
  return true;
}

bool ReducedSystem::canAct(const Position &position, EngineId e, const Act &act) const {
  return waitPasses(position, act) && (act.kind != OpKind::Issue || hasRoom(position, act.queue)) &&
         (act.kind != OpKind::Drain || isDrained(position, e));
}

const SpecIssue *ReducedSystem::nextOfSpec(const Position &position, EngineId e) const {
  uint32_t n = position.numIssued[e.value];
  return n < tables.issues[e].size() ? &tables.issues[e][n] : nullptr;
}

const Ask *ReducedSystem::unmet(const Position &position, const SpecIssue &issue) const {
  for (uint32_t i = 0; i < issue.numAsks; ++i) {
    const Ask &ask = tables.asks[issue.firstAsk + i];
    if (position.retired[ask.queue.value] < ask.count) {
      return &ask;
    }
  }
  return nullptr;
}

bool ReducedSystem::specMayIssue(const Position &position, EngineId e) const {
  const SpecIssue *next = nextOfSpec(position, e);
  return next && hasRoom(position, next->queue) && !unmet(position, *next);
}

void ReducedSystem::raise(Position &position, SemaId semaphore, uint32_t amount) const {
  uint64_t mask = (uint64_t(1) << tables.machine.counterBits) - 1;
  uint32_t &value = position.semaphores[semaphore.value];
  value = static_cast<uint32_t>((value + uint64_t(amount)) & mask);
}

void ReducedSystem::execute(Position &position, EngineId e, const Act &act) const {
  ++position.at[e.value];
  switch (act.kind) {
  case OpKind::Issue:
    ++position.issued[act.queue.value];
    ++position.numIssued[e.value];
    return;
  case OpKind::Signal:
    return raise(position, act.signal, act.amount);
  case OpKind::Reset:
    std::fill_n(position.semaphores.begin() + act.signal.value, act.amount, 0);
    return;
  default:
    return;
  }
}

void ReducedSystem::retire(Position &position, uint32_t queue) const {
  const Taken &instr = tables.taken[QueueId(queue)][position.retired[queue]++];
  if (instr.signal.valid()) {
    raise(position, instr.signal, instr.amount);
  }
}

void ReducedSystem::deliver(Position &position, uint32_t queue, uint32_t ring) const {
  uint32_t *rings = position.rings.data() + impl.firstRing(QueueId(queue));
  const Op &op = impl.issueAt(QueueId(queue), rings[ring]++);
  if (uint32_t share = impl.shareOf(QueueId(queue), op, ring)) {
    raise(position, op.signal, share);
  }
  position.retired[queue] = *std::min_element(rings, rings + kernel.queues[QueueId(queue)].weight);
}

std::optional<Mismatch> ReducedSystem::lateness(const Position &position, EngineId e) const {
  scratch = position;
  const Act *act = headOf(scratch, e);
  while (act && canAct(scratch, e, *act)) {
    if (act->kind == OpKind::Issue) {
      return {};
    }
    execute(scratch, e, *act);
    act = headOf(scratch, e);
  }
  Mismatch mismatch;
  mismatch.kind = MismatchKind::Late;
  mismatch.engine = e;
  const SpecIssue *next = nextOfSpec(position, e);
  mismatch.instance = next ? next->instance : Instance();
  mismatch.atReset = act && tables.lockstep.isAtReset(e, act->point);
  if (act && !waitPasses(scratch, *act)) {
    mismatch.semaphore = act->wait;
    mismatch.value = scratch.semaphores[act->wait.value];
    mismatch.threshold = act->threshold;
  }
  return mismatch;
}

} // namespace tally::reduced
