//===- Impl.cpp - What the engines may do next, as compiled ---------------===//
//
// Steps:  1. trace    each engine runs alone, no wait blocking: its operations, and the thresholds
//                     that its registers give, in a row
//         2. number   the instructions among them, by queue: what `in flight` counts in
//         3. step     a state is where each engine is in its row and each queue in its
//                     numbers, plus the semaphores
//
// 1 is right because no register depends on a semaphore or on memory: whatever the other engines
// do, only the time changes at which an engine gets on.
//
//===----------------------------------------------------------------------===//

#include "tally/Check/Impl.h"

#include "tally/Run/Interpret.h"

#include <algorithm>

namespace tally {

//===----------------------------------------------------------------------===//
// 1. Trace
//===----------------------------------------------------------------------===//

/// Writes down what an engine executes; false if `fuel` operations do not suffice.
static bool trace(EngineRun run, size_t numInstrs, std::vector<ImplPoint> &points, uint64_t &fuel) {
  IdVector<InstrId, uint32_t> runs(numInstrs, 0);
  for (; !run.atEnd(); run.advance()) {
    if (fuel == 0) {
      return false;
    }
    --fuel;
    const Op &op = run.head();
    uint32_t threshold = op.wait.valid() ? static_cast<uint32_t>(run.value(op.a)) : 0;
    points.push_back({run.at(), op.kind == OpKind::Issue ? runs[op.instr()]++ : 0, threshold});
  }
  return true;
}

ImplSystem::ImplSystem(const Kernel &kernel, const Code &code, const Machine &machine,
                       const Bindings &bindings, const ImplOptions &options)
    : kernel(kernel), code(code), machine(machine), options(options),
      trajectories(kernel.engines.size()), issues(kernel.queues.size()),
      firstRings(kernel.queues.size(), 0) {
  assert(options.inFlight >= 1 && options.inFlight <= maxInFlight && "as many as a word has bits");
  counterMask = static_cast<uint32_t>((uint64_t(1) << machine.counterBits) - 1);
  uint64_t fuel = options.maxOperations;
  for (EngineId e : kernel.engines.ids()) {
    isComplete &=
        trace({kernel, code, machine, bindings, e}, kernel.instrs.size(), trajectories[e], fuel);
    for (uint32_t i = 0; i < trajectories[e].size(); ++i) {
      const Op &op = code.engines[e].ops[trajectories[e][i].op];
      if (op.kind == OpKind::Issue) {
        issues[kernel.instrs[op.instr()].queue].push_back(i);
      }
    }
  }
  for (QueueId q : kernel.queues.ids()) {
    firstRings[q] = numRings;
    if (isSplit(q)) {
      isComplete &= kernel.queues[q].weight <= maxRings;
      numRings += std::min(kernel.queues[q].weight, maxRings);
    }
  }
}

//===----------------------------------------------------------------------===//
// 2. Number
//===----------------------------------------------------------------------===//

bool ImplState::operator==(const ImplState &other) const {
  return at.raw() == other.at.raw() && queues.raw() == other.queues.raw() &&
         semaphores.raw() == other.semaphores.raw() && rings == other.rings &&
         memory == other.memory;
}

ImplState ImplSystem::initial() const {
  ImplState state;
  state.at.assign(kernel.engines.size(), 0);
  state.queues.assign(kernel.queues.size(), {});
  state.semaphores.assign(code.semaphores.size(), 0);
  state.rings.assign(numRings, 0);
  if (options.datapath) {
    state.memory = options.datapath->initial();
  }
  return state;
}

const Op &ImplSystem::issueAt(QueueId queue, uint32_t n) const {
  return *headAt(kernel.queues[queue].engine, issues[queue][n]);
}

Instance ImplSystem::instanceAt(QueueId queue, uint32_t n) const {
  EngineId engine = kernel.queues[queue].engine;
  return {issueAt(queue, n).instr(), trajectories[engine][issues[queue][n]].run};
}

uint32_t ImplSystem::shareOf(QueueId queue, const Op &op, uint32_t ring) const {
  if (!op.signal.valid()) {
    return 0;
  }
  uint32_t numShares = kernel.queues[queue].weight;
  return op.amount / numShares + (ring < op.amount % numShares ? 1 : 0);
}

//===----------------------------------------------------------------------===//
// 3. Step: what can happen
//===----------------------------------------------------------------------===//

bool ImplSystem::passes(uint32_t value, uint32_t threshold) const {
  if (machine.waitCompare == WaitCompare::Unsigned) {
    return value >= threshold;
  }
  // Moving the sign bit's half below the other turns signed into unsigned order.
  uint32_t sign = (counterMask >> 1) + 1;
  return (value ^ sign) >= (threshold ^ sign);
}

bool ImplSystem::waitPasses(const ImplState &state, EngineId engine) const {
  const Op *op = head(state, engine);
  if (!op || !op->wait.valid()) {
    return op != nullptr;
  }
  return passes(state.semaphores[op->wait], trajectories[engine][state.at[engine]].threshold);
}

bool ImplSystem::isDrained(const ImplState &state, EngineId engine) const {
  for (QueueId q : kernel.engines[engine].queues) {
    if (state.queues[q].inFlight() != 0) {
      return false;
    }
  }
  return true;
}

/// Whether the operation at the engine's head can be executed, be it an instruction or not.
bool ImplSystem::mayExecute(const ImplState &state, EngineId engine) const {
  const Op *op = head(state, engine);
  if (!op || !waitPasses(state, engine)) {
    return false;
  }
  if (op->kind == OpKind::Drain) {
    return isDrained(state, engine);
  }
  return op->kind != OpKind::Issue ||
         state.queues[kernel.instrs[op->instr()].queue].inFlight() < options.inFlight;
}

uint32_t ImplSystem::leastDelivered(const ImplState &state, QueueId queue) const {
  const uint32_t *ring = state.rings.data() + firstRings[queue];
  return *std::min_element(ring, ring + std::min(kernel.queues[queue].weight, maxRings));
}

/// A ring delivers in order, and only for what has committed.
bool ImplSystem::mayDeliver(const ImplState &state, QueueId queue, uint32_t ring) const {
  const QueueState &q = state.queues[queue];
  uint32_t next = state.rings[firstRings[queue] + ring];
  return next < q.issued && q.hasCommitted(next - q.retired);
}

bool ImplSystem::mayRetire(const ImplState &state, QueueId queue) const {
  const QueueState &q = state.queues[queue];
  return q.inFlight() > 0 && q.hasCommitted(0);
}

void ImplSystem::enabledOnQueue(const ImplState &state, QueueId queue,
                                std::vector<Step> &steps) const {
  EngineId engine = kernel.queues[queue].engine;
  const QueueState &q = state.queues[queue];
  for (uint32_t place = 0; place < q.inFlight(); ++place) {
    if (q.mayCommit(place, machine.queueOverlap)) {
      steps.push_back(Step::commit(engine, queue, place));
    }
  }
  if (!isSplit(queue)) {
    if (mayRetire(state, queue)) {
      steps.push_back(Step::retire(engine, queue));
    }
    return;
  }
  for (uint32_t ring = 0; ring < std::min(kernel.queues[queue].weight, maxRings); ++ring) {
    if (mayDeliver(state, queue, ring)) {
      steps.push_back(Step::deliver(engine, queue, ring));
    }
  }
}

void ImplSystem::enabled(const ImplState &state, std::vector<Step> &steps) const {
  steps.clear();
  for (EngineId e : kernel.engines.ids()) {
    if (mayExecute(state, e)) {
      const Op *op = head(state, e);
      steps.push_back(op->kind == OpKind::Issue ? Step::issue(e, kernel.instrs[op->instr()].queue)
                                                : Step::control(e));
    }
  }
  for (QueueId q : kernel.queues.ids()) {
    enabledOnQueue(state, q, steps);
  }
}

bool ImplSystem::isEnabled(const ImplState &state, const Step &step) const {
  if (step.kind == StepKind::Control || step.kind == StepKind::Issue) {
    if (!mayExecute(state, step.engine)) {
      return false;
    }
    const Op *op = head(state, step.engine);
    return (op->kind == OpKind::Issue) == (step.kind == StepKind::Issue) &&
           (op->kind != OpKind::Issue || kernel.instrs[op->instr()].queue == step.queue);
  }
  const QueueState &q = state.queues[step.queue];
  switch (step.kind) {
  case StepKind::Commit:
    return q.mayCommit(step.index, machine.queueOverlap);
  case StepKind::Deliver:
    return isSplit(step.queue) &&
           step.index < std::min(kernel.queues[step.queue].weight, maxRings) &&
           mayDeliver(state, step.queue, step.index);
  default:
    return !isSplit(step.queue) && mayRetire(state, step.queue);
  }
}

bool ImplSystem::finished(const ImplState &state) const {
  for (EngineId e : kernel.engines.ids()) {
    if (head(state, e) || !isDrained(state, e)) {
      return false;
    }
  }
  return true;
}

Blocked ImplSystem::whyBlocked(const ImplState &state, EngineId engine) const {
  Blocked blocked;
  blocked.op = head(state, engine);
  if (!blocked.op) {
    blocked.kind = Blocked::Kind::Finished;
  } else if (!waitPasses(state, engine)) {
    blocked.kind = Blocked::Kind::Wait;
    blocked.semaphore = blocked.op->wait;
    blocked.value = state.semaphores[blocked.semaphore];
    blocked.threshold = trajectories[engine][state.at[engine]].threshold;
  } else if (!mayExecute(state, engine)) {
    bool drain = blocked.op->kind == OpKind::Drain;
    blocked.kind = drain ? Blocked::Kind::Drain : Blocked::Kind::QueueFull;
    for (QueueId q : kernel.engines[engine].queues) {
      bool holds = state.queues[q].inFlight() != 0;
      if (drain ? holds && !blocked.queue.valid() : q == kernel.instrs[blocked.op->instr()].queue) {
        blocked.queue = q;
      }
    }
  }
  return blocked;
}

//===----------------------------------------------------------------------===//
// 3. Step: what happens
//===----------------------------------------------------------------------===//

void ImplSystem::raise(ImplState &state, SemaId semaphore, uint32_t amount) const {
  state.semaphores[semaphore] = (state.semaphores[semaphore] + amount) & counterMask;
}

void ImplSystem::execute(ImplState &state, EngineId engine, ImplObserver *observer) const {
  const Op &op = *head(state, engine);
  const ImplPoint &point = trajectories[engine][state.at[engine]];
  ++state.at[engine];
  if (op.wait.valid() && observer) {
    observer->onWait(engine, op.wait, point.threshold);
  }
  switch (op.kind) {
  case OpKind::Issue: {
    QueueId queue = kernel.instrs[op.instr()].queue;
    ++state.queues[queue].issued;
    if (observer) {
      observer->onIssue(engine, queue, {op.instr(), point.run});
    }
    return;
  }
  case OpKind::Signal:
    raise(state, op.signal, op.amount);
    if (observer) {
      observer->onSignal(engine, op.signal, op.amount);
    }
    return;
  case OpKind::Reset:
    for (uint32_t i = 0; i < op.amount; ++i) {
      state.semaphores[SemaId(op.signal.value + i)] = 0;
    }
    if (observer) {
      observer->onReset(engine, op.signal, op.amount);
    }
    return;
  case OpKind::Drain:
    if (observer) {
      observer->onDrain(engine);
    }
    return;
  default:
    return;
  }
}

void ImplSystem::commit(ImplState &state, QueueId queue, uint32_t place,
                        ImplObserver *observer) const {
  QueueState &q = state.queues[queue];
  q.committed |= uint64_t(1) << place;
  Instance instance = instanceAt(queue, q.retired + place);
  if (options.datapath) {
    options.datapath->commit(state.memory, instance);
  }
  if (observer) {
    observer->onCommit(queue, instance);
  }
}

void ImplSystem::deliver(ImplState &state, QueueId queue, uint32_t ring,
                         ImplObserver *observer) const {
  QueueState &q = state.queues[queue];
  uint32_t n = state.rings[firstRings[queue] + ring]++;
  const Op &op = issueAt(queue, n);
  uint32_t share = shareOf(queue, op, ring);
  if (share > 0) {
    raise(state, op.signal, share);
  }
  if (observer) {
    observer->onDeliver(queue, ring, instanceAt(queue, n), op.signal, share);
  }
  if (leastDelivered(state, queue) > q.retired) {
    Instance instance = instanceAt(queue, q.retired);
    SemaId semaphore = issueAt(queue, q.retired).signal;
    ++q.retired;
    q.committed >>= 1;
    if (observer) {
      observer->onRetire(queue, instance, semaphore, 0);
    }
  }
}

void ImplSystem::retire(ImplState &state, QueueId queue, ImplObserver *observer) const {
  QueueState &q = state.queues[queue];
  const Op &op = issueAt(queue, q.retired);
  Instance instance = instanceAt(queue, q.retired);
  ++q.retired;
  q.committed >>= 1;
  if (op.signal.valid()) {
    raise(state, op.signal, op.amount);
  }
  if (observer) {
    observer->onRetire(queue, instance, op.signal, op.signal.valid() ? op.amount : 0);
  }
}

void ImplSystem::apply(ImplState &state, const Step &step, ImplObserver *observer) const {
  assert(isEnabled(state, step) && "only enabled steps are performed");
  switch (step.kind) {
  case StepKind::Control:
  case StepKind::Issue:
    return execute(state, step.engine, observer);
  case StepKind::Commit:
    return commit(state, step.queue, step.index, observer);
  case StepKind::Deliver:
    return deliver(state, step.queue, step.index, observer);
  case StepKind::Retire:
    return retire(state, step.queue, observer);
  }
}

} // namespace tally
