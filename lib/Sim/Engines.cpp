//===- Engines.cpp - Sequencers in time -----------------------------------===//
//
// What only the sequencer itself can see (registers, loops, branches) is executed ahead of events;
// what others can see (waits, issues, signals, resets, drains) only when no event comes before it.
//
//===----------------------------------------------------------------------===//

#include "Simulator.h"

namespace tally::sim {

void Simulator::runEngine(SimEngine &engine) {
  const uint32_t actor = actorOf(engine.id);
  events.set(actor, never);
  limit = events.first();
  while (engine.state == EngineState::Ready) {
    if (engine.run.atEnd()) {
      stop(engine, EngineState::Done);
      end = engine.now > end.at ? Due{engine.now, here(engine)} : end;
      return;
    }
    bool isNext = Moment{engine.now, actor} < limit;
    if (!isNext && (touchesOutside(engine.run.head().kind) || engine.loads.count != 0)) {
      break;
    }
    if (!execute(engine)) {
      continue; // blocked, or tries again later
    }
    if (++result.operations >= options.maxOperations || result.instructions >= options.maxIssued ||
        isSet(options.stop)) {
      result.outcome = SimResult::Outcome::CutOff;
      break;
    }
  }
  if (engine.state == EngineState::Ready) {
    events.set(actor, engine.now);
  }
  if (options.criticalPath && path.isFull()) {
    collectPath();
  }
}

/// The operation at `at` takes so long.
void Simulator::spend(SimEngine &engine, uint32_t at, Tick span) {
  OpStats &stats = result.engines[engine.id].ops[at];
  ++stats.runs;
  stats.control += span;
  if (observer) {
    observer->onOperation(engine.id, at, engine.now, engine.now + span);
  }
  engine.now += span;
}

/// The node of an engine's present: all since its last node was control.
PathNode Simulator::here(SimEngine &engine) {
  if (options.criticalPath && engine.now > engine.baseAt) {
    uint32_t op = engine.run.atEnd() ? engine.at() - 1 : engine.at();
    engine.base =
        path.add(engine.base, PathKind::Control, engine.firstOp + op, engine.now - engine.baseAt);
    engine.baseAt = engine.now;
  }
  return engine.base;
}

void Simulator::stop(SimEngine &engine, EngineState state) {
  engine.state = state;
  engine.blockedSince = engine.now;
}

/// The engine has stood still since `blockedSince`, and goes on at `until`.
void Simulator::stall(SimEngine &engine, Stall kind, const Due &until) {
  OpStats &stats = result.engines[engine.id].ops[engine.at()];
  Tick &sum = kind == Stall::Wait        ? stats.waiting
              : kind == Stall::QueueFull ? stats.queueFull
                                         : stats.draining;
  sum += until.at - engine.blockedSince;
  if (observer && until.at > engine.blockedSince) {
    observer->onStall(engine.id, engine.at(), kind, engine.blockedSince, until.at);
  }
  engine.now = until.at;
  engine.base = until.node;
  engine.baseAt = until.at;
}

/// The same of an engine that has to be told.
void Simulator::goOn(SimEngine &engine, Stall kind, const Due &until) {
  stall(engine, kind, until);
  engine.state = EngineState::Ready;
  events.set(actorOf(engine.id), engine.now);
}

/// Executes the operation at the head; false if it cannot be executed now.
bool Simulator::execute(SimEngine &engine) {
  if (!haveRetired(engine, engine.loads)) {
    return false; // what follows may need the value
  }
  engine.loads = {};
  const Op &op = engine.run.head();
  const SimOp &here = engine.ops[engine.at()];
  switch (op.kind) {
  case OpKind::Alu:
    spend(engine, here.isAtOnce && engine.run.active().back().iteration > 0 ? 0 : timing.alu);
    break;
  case OpKind::Issue:
    if (!executeIssue(engine, op)) {
      return false;
    }
    break;
  case OpKind::Wait:
    if (isLeftOut(engine, op)) {
      spend(engine, 0);
      break;
    }
    if (!mayPass(engine, op)) {
      return false;
    }
    spend(engine, timing.wait);
    break;
  case OpKind::Signal:
    executeSignal(engine, op);
    break;
  case OpKind::Reset:
    executeReset(op, engine.now);
    spend(engine, timing.reset);
    break;
  case OpKind::Drain:
    if (!executeDrain(engine)) {
      return false;
    }
    break;
  case OpKind::LoopBegin:
    beginLoop(engine);
    return true;
  case OpKind::LoopEnd:
    endLoop(engine);
    return true;
  case OpKind::IfBegin:
  case OpKind::WhenBegin:
  case OpKind::Else: // from the then-branch only
    spend(engine, here.isFree ? 0 : timing.branch);
    break;
  default: // brackets without an effect of their own
    spend(engine, 0);
    break;
  }
  engine.run.advance();
  return true;
}

/// Whether the code has no wait for this iteration, which is not the first of its pass.
bool Simulator::isLeftOut(const SimEngine &engine, const Op &op) const {
  return op.once && engine.ops[engine.at()].written.repeats(
                        engine.run.active().back().iteration + 1, engine.run.tripsNow());
}

/// Whether the wait of an operation passes now; if not, the engine stops.
bool Simulator::mayPass(SimEngine &engine, const Op &op) {
  auto threshold = static_cast<uint32_t>(engine.run.value(op.a));
  if (passes(semaphores[op.wait], threshold)) {
    return true;
  }
  engine.threshold = threshold;
  stop(engine, EngineState::Waiting);
  waiters[op.wait] |= uint64_t(1) << engine.id.value;
  return false;
}

/// Whether an instruction that arrives in a queue can stay there; if not, the engine stops, or is
/// moved to the time when it can.
bool Simulator::hasRoom(SimEngine &engine, SimQueue &queue) {
  if (queue.hasTransfers) {
    if (queue.waiting.size() < queue.depth) {
      return true;
    }
    stop(engine, EngineState::QueueFull);
    queue.blocked = engine.id;
    return false;
  }
  if (queue.starts.size() < queue.depth || queue.starts.front().at <= engine.now) {
    return true;
  }
  engine.blockedSince = engine.now;
  stall(engine, Stall::QueueFull, queue.starts.front());
  return false;
}

/// An instruction with a price of its own for being issued arrives in the end, others at once.
bool Simulator::executeIssue(SimEngine &engine, const Op &op) {
  const bool waits = op.wait.valid() && !isLeftOut(engine, op);
  if (waits && !mayPass(engine, op)) {
    return false;
  }
  SimQueue &queue = queues[kernel.instrs[op.instr()].queue];
  if (!hasRoom(engine, queue)) {
    return false;
  }
  const InstrCost &cost = costs[op.instr()];
  Tick wait = waits ? timing.carried : 0;
  Tick arrival = engine.now + wait + cost.issue;
  spend(engine, wait + cost.issue + cost.dispatch);
  Tick after = engine.now;
  engine.now = arrival;
  arrive(engine, queue, op.instr(), arrival);
  engine.now = after;
  ++result.instructions;
  if (!kernel.loadsOf(op.instr()).empty()) {
    engine.loads = {kernel.instrs[op.instr()].queue.value, 1};
  }
  return true;
}

bool Simulator::executeDrain(SimEngine &engine) {
  if (!haveRetired(engine, kernel.engines[engine.id].queues)) {
    return false;
  }
  spend(engine, timing.drain);
  return true;
}

/// Whether all instructions in these queues of the engine have; if not, the engine stops, or is
/// moved to the time when they have.
bool Simulator::haveRetired(SimEngine &engine, IdRange<QueueId> drained) {
  Due last;
  for (QueueId q : drained) {
    SimQueue &queue = queues[q];
    if (!isSettled(queue)) {
      engine.drains = drained;
      stop(engine, EngineState::Draining);
      return false;
    }
    Tick lastShare = queue.lastRetire.at + (queue.numShares - 1) * timing.spacing;
    if (lastShare > last.at) {
      last = {lastShare, lastShareNode(queue, engine.at(), queue.numShares - 1)};
    }
  }
  if (last.at > engine.now) {
    engine.blockedSince = engine.now;
    stall(engine, Stall::Drain, last);
    return false;
  }
  return true;
}

void Simulator::executeSignal(SimEngine &engine, const Op &op) {
  Tick start = engine.now;
  spend(engine, timing.signal);
  Tick at = engine.now + timing.visible;
  PathNode node = pathNode(here(engine), PathKind::Visible, engine.id, engine.at(), timing.visible);
  if (engine.raises.empty()) {
    schedule(signalActor(engine.id), at);
  }
  engine.raises.push_back({at, op.signal, op.amount, node, engine.at(), start});
}

void Simulator::executeReset(const Op &op, Tick now) {
  for (uint32_t i = 0; i < op.amount; ++i) {
    SemaId semaphore(op.signal.value + i);
    semaphores[semaphore] = 0;
    if (observer) {
      observer->onSemaphore(semaphore, now, 0);
    }
  }
}

void Simulator::noteIteration(const SimEngine &engine) {
  if (observer) {
    const LoopIteration &now = engine.run.active().back();
    observer->onIteration(engine.id, now.loop, now.iteration + 1);
  }
}

void Simulator::beginLoop(SimEngine &engine) {
  const uint32_t at = engine.at();
  const SimOp &begin = engine.ops[at];
  bool isAtOnce = engine.run.head().amount == atOnce;
  engine.run.advance();
  bool runs = engine.at() == at + 1;
  uint32_t numLoops = begin.written.loops();
  Tick price = numLoops * timing.loopBegin + (!runs && numLoops > 0 ? timing.branch : 0);
  if (isAtOnce && !runs) { // nothing is added, but it takes as long
    price = (engine.run.partnerOf(at) - at - 1) * timing.alu;
  }
  spend(engine, at, begin.isFree ? 0 : price);
  if (runs) {
    noteIteration(engine);
  }
}

void Simulator::endLoop(SimEngine &engine) {
  const uint32_t at = engine.at();
  const WrittenLoop &written = engine.ops[engine.run.partnerOf(at)].written;
  bool branches =
      written.branchesAfter(engine.run.active().back().iteration + 1, engine.run.tripsNow());
  spend(engine, engine.ops[at].isFree || !branches ? 0 : timing.loopEnd);
  engine.run.advance();
  if (engine.at() <= at) {
    noteIteration(engine);
  }
}

} // namespace tally::sim
