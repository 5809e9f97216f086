//===- Simulate.cpp - Code of a kernel, executed in time ------------------===//
//
// Steps:  1. decode   code with matched brackets; which queues hold transfers
//         2. events   the earliest one, until there is none
//         3. finish   sums; if an engine is not at the end, which waits for which
//
// Invariant: no event is scheduled before the one being handled. [asserted]
//
//===----------------------------------------------------------------------===//

#include "Simulator.h"

#include <algorithm>

namespace tally::sim {

Simulator::Simulator(const Kernel &kernel, const Code &code, const Machine &machine,
                     const Timing &timing, const InstrCosts &costs, const Bindings &bindings,
                     const SimOptions &options)
    : kernel(kernel), code(code), machine(machine),
      timing(options.freeSync ? timing.withFreeSync() : timing), costs(costs), bindings(bindings),
      options(options), observer(options.observer),
      counterMask(static_cast<uint32_t>((uint64_t(1) << machine.counterBits) - 1)),
      sign(machine.waitCompare == WaitCompare::Signed ? (counterMask >> 1) + 1 : 0),
      queues(kernel.queues.size()), semaphores(code.semaphores.size(), 0),
      waiters(code.semaphores.size(), 0), runs(kernel.instrs.size(), 0),
      events(static_cast<uint32_t>(queues.size() + 2 * kernel.engines.size() + 1)),
      path(options.pathNodes) {
  result.engines.resize(kernel.engines.size());
  result.queues.resize(queues.size());
  makeEngines();
  makeQueues();
}

//===----------------------------------------------------------------------===//
// 1. Decode
//===----------------------------------------------------------------------===//

/// Marks brackets with no instruction between them.
static void freeEmptyBrackets(const std::vector<Op> &code, SimEngine &engine) {
  std::vector<uint32_t> numIssues{0}; // before each operation
  for (const Op &op : code) {
    numIssues.push_back(numIssues.back() + (op.kind == OpKind::Issue));
  }
  for (uint32_t at = 0; at < code.size(); ++at) {
    OpKind kind = code[at].kind;
    if (kind != OpKind::LoopBegin && kind != OpKind::IfBegin && kind != OpKind::WhenBegin) {
      continue;
    }
    uint32_t middle = engine.run.partnerOf(at);
    bool hasElse = code[middle].kind == OpKind::Else;
    uint32_t end = hasElse ? engine.run.partnerOf(middle) : middle;
    bool isEmpty = numIssues[at] == numIssues[end];
    engine.ops[at].isFree = engine.ops[middle].isFree = engine.ops[end].isFree = isEmpty;
  }
}

void Simulator::makeEngines() {
  uint32_t firstOp = 0;
  for (EngineId id : kernel.engines.ids()) {
    const std::vector<Op> &ops = code.engines[id].ops;
    SimEngine &engine = engines[engines.push(SimEngine(id, {kernel, code, machine, bindings, id}))];
    engine.ops.reserve(ops.size());
    std::vector<const Op *> open; // loops
    for (const Op &op : ops) {
      bool isAtOnce = op.kind == OpKind::Alu && !open.empty() && open.back()->amount == atOnce;
      engine.ops.push_back({false, isAtOnce});
      if (op.kind == OpKind::LoopBegin) {
        open.push_back(&op);
      } else if (op.kind == OpKind::LoopEnd) {
        open.pop_back();
      }
      if (op.kind == OpKind::LoopBegin || op.once) {
        engine.ops.back().written = writtenLoop(kernel, *open.back());
      }
    }
    if (options.freeSync) {
      freeEmptyBrackets(ops, engine);
    }
    engine.firstOp = firstOp;
    firstOp += static_cast<uint32_t>(ops.size());
    result.engines[id].ops.resize(ops.size());
    events.set(actorOf(id), 0);
  }
  path.resize(options.criticalPath ? firstOp : 0);
  if (observer) {
    path.setTeller([this](uint32_t at, PathKind kind, Tick from, Tick to) {
      const SimEngine &engine = *std::prev(std::ranges::upper_bound(
          engines, at, {}, [](const SimEngine &each) { return each.firstOp; }));
      observer->onPath({engine.id, at - engine.firstOp, kind, from, to});
    });
  }
}

void Simulator::makeQueues() {
  for (InstrId id : kernel.instrs.ids()) {
    queues[kernel.instrs[id].queue].hasTransfers |= costs[id].isTransfer;
  }
  for (QueueId id : queues.ids()) {
    const Queue &declared = kernel.queues[id];
    SimQueue &queue = queues[id];
    queue.id = id;
    queue.engine = declared.engine;
    queue.depth = queue.hasTransfers ? timing.transferDepth : timing.queueDepth;
    queue.numShares = declared.completion == Completion::Split ? declared.weight : 1;
    if (queue.hasTransfers) {
      transferQueues.push_back(id);
    }
  }
}

//===----------------------------------------------------------------------===//
// 2. Events
//===----------------------------------------------------------------------===//

void Simulator::schedule(uint32_t actor, Tick time) {
  events.set(actor, time);
  limit = std::min(limit, Moment{time, actor});
}

SimResult Simulator::run() {
  for (;;) {
    Moment next = events.first();
    if (next.time == never || result.outcome == SimResult::Outcome::CutOff) {
      break;
    }
    if (next.actor < signalActor(EngineId(0))) {
      QueueId queue(next.actor);
      deliver(queues[queue].raises, next.actor, queues[queue].engine, queue);
    } else if (next.actor < transferActor()) {
      EngineId engine(next.actor - signalActor(EngineId(0)));
      deliver(engines[engine].raises, next.actor, engine, QueueId());
    } else if (next.actor == transferActor()) {
      runTransfers(next.time);
    } else {
      runEngine(engines[EngineId(next.actor - transferActor() - 1)]);
    }
  }
  finish();
  return std::move(result);
}

void Simulator::deliver(std::deque<Raise> &raises, uint32_t actor, EngineId engine, QueueId queue) {
  Tick now = raises.front().at;
  while (!raises.empty() && raises.front().at == now) {
    Raise next = raises.front();
    raises.pop_front();
    raise(next, engine, queue);
  }
  events.set(actor, raises.empty() ? never : raises.front().at);
}

bool Simulator::passes(uint32_t value, uint32_t threshold) const {
  return (value ^ sign) >= (threshold ^ sign);
}

void Simulator::raise(const Raise &raise, EngineId engine, QueueId queue) {
  uint32_t &value = semaphores[raise.semaphore];
  value = (value + raise.amount) & counterMask;
  if (observer) {
    observer->onSemaphore(raise.semaphore, raise.at, value);
  }
  for (uint64_t left = waiters[raise.semaphore]; left != 0; left &= left - 1) {
    EngineId waiter(static_cast<uint32_t>(std::countr_zero(left)));
    if (passes(value, engines[waiter].threshold)) {
      waiters[raise.semaphore] &= ~(uint64_t(1) << waiter.value);
      wake(engines[waiter], raise, engine, queue);
    }
  }
}

/// The waiter tests again when it is awake: a reset may have come in between.
void Simulator::wake(SimEngine &engine, const Raise &raise, EngineId by, QueueId byQueue) {
  assert(raise.at >= engine.blockedSince && "the past does not change");
  Tick from = engine.blockedSince, wakeUp = raise.at > from ? timing.wake : 0;
  goOn(engine, Stall::Wait,
       {raise.at + wakeUp, pathNode(raise.node, PathKind::Wake, engine.id, engine.at(), wakeUp)});
  if (observer) {
    observer->onRelease({engine.id, engine.at(), from, engine.now, raise.semaphore, by, raise.op,
                         byQueue, raise.start, raise.at, engine.threshold});
  }
}

/// All nodes that the future may refer to. What lies before the next event delays nobody; of a
/// split completion, that is the last share.
void Simulator::collectPath() {
  Tick now = limit.time;
  for (SimEngine &engine : engines) {
    now = engine.state == EngineState::Ready ? std::min(now, engine.now) : now;
  }
  std::vector<PathNode *> roots{&end.node};
  auto keep = [&](Due &due, Tick later = 0) {
    if (due.at + later >= now) {
      roots.push_back(&due.node);
    } else {
      due.node = pathStart;
    }
  };
  auto keepRaises = [&](std::deque<Raise> &raises) {
    for (Raise &raise : raises) {
      roots.push_back(&raise.node);
    }
  };
  for (SimEngine &engine : engines) {
    if (engine.state == EngineState::Ready) {
      roots.push_back(&engine.base);
    } else {
      engine.base = pathStart; // is replaced by what it waits for
    }
    keepRaises(engine.raises);
  }
  for (SimQueue &queue : queues) {
    keep(queue.next);
    keep(queue.lastRetire, (queue.numShares - 1) * timing.spacing);
    for (Due &start : queue.starts) {
      keep(start);
    }
    keepRaises(queue.raises);
    for (Arrival &arrival : queue.waiting) {
      roots.push_back(&arrival.ready.node);
    }
    if (queue.isActive) {
      roots.push_back(&queue.start.node);
    }
  }
  path.collect(roots);
}

//===----------------------------------------------------------------------===//
// 3. Finish
//===----------------------------------------------------------------------===//

void Simulator::finish() {
  for (SimEngine &engine : engines) {
    end = engine.now > end.at ? Due{engine.now, here(engine)} : end;
    if (engine.state != EngineState::Done && result.outcome == SimResult::Outcome::Finished) {
      result.outcome = SimResult::Outcome::Deadlock;
    }
  }
  result.total = end.at;
  for (const SimEngine &engine : engines) {
    sumUp(engine, result.engines[engine.id]);
  }
  if (options.criticalPath) {
    sumUpPath();
  }
  if (result.outcome == SimResult::Outcome::Deadlock) {
    findDeadlock();
  }
}

/// A run that is cut off may stop within an operation that ends later.
void Simulator::sumUp(const SimEngine &engine, EngineStats &stats) const {
  if (engine.state == EngineState::Waiting) {
    stats.ops[engine.at()].waiting += result.total - engine.blockedSince;
  }
  for (const OpStats &op : stats.ops) {
    stats.control += op.control;
    stats.waiting += op.waiting;
    stats.queueFull += op.queueFull;
    stats.draining += op.draining;
  }
  Tick sum = stats.sum();
  assert((sum <= result.total || result.outcome == SimResult::Outcome::CutOff) &&
         "a sequencer does one thing at a time");
  stats.done = sum <= result.total ? result.total - sum : 0;
}

void Simulator::sumUpPath() {
  const auto &totals = path.finish(end.node);
  for (const SimEngine &engine : engines) {
    for (uint32_t op = 0; op < engine.ops.size(); ++op) {
      PathShare share{engine.id, op, totals[engine.firstOp + op]};
      if (share.sum() > 0) {
        result.path.push_back(share);
      }
    }
  }
}

} // namespace tally::sim

namespace tally {

SimResult simulate(const Kernel &kernel, const Code &code, const Machine &machine,
                   const Timing &timing, const InstrCosts &costs, const Bindings &bindings,
                   const SimOptions &options) {
  return sim::Simulator(kernel, code, machine, timing, costs, bindings, options).run();
}

} // namespace tally
