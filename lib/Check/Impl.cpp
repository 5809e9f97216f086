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
static bool trace(EngineRun run, size_t numInstrs, std::vector<ImplPoint> &points, Fuel &fuel) {
  IdVector<InstrId, uint32_t> runs(numInstrs, 0);
  for (; !run.atEnd(); run.advance()) {
    if (fuel.isOut()) {
      return false;
    }
    fuel.spend();
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
  Fuel fuel = options.maxOperations;
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
    firstRings[q] = numSplitRings;
    if (isSplit(q)) {
      isComplete &= kernel.queues[q].weight <= maxRings;
      numSplitRings += ringsOf(q);
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
  state.rings.assign(numSplitRings, 0);
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
  uint32_t numShares = ringsOf(queue);
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

/// The first queue of an engine that holds an instruction.
QueueId ImplSystem::holder(const ImplState &state, EngineId engine) const {
  for (QueueId q : kernel.engines[engine].queues) {
    if (state.queues[q].inFlight() != 0) {
      return q;
    }
  }
  return {};
}

/// Whether the operation at the engine's head can be executed, be it an instruction or not.
bool ImplSystem::mayExecute(const ImplState &state, EngineId engine) const {
  const Op *op = head(state, engine);
  if (!op || !waitPasses(state, engine)) {
    return false;
  }
  if (op->kind == OpKind::Drain) {
    return !holder(state, engine).valid();
  }
  return op->kind != OpKind::Issue ||
         state.queues[kernel.instrs[op->instr()].queue].inFlight() < options.inFlight;
}

/// A ring completes in order, and only what has committed.
bool ImplSystem::mayComplete(const ImplState &state, QueueId queue, uint32_t ring) const {
  const QueueState &q = state.queues[queue];
  uint32_t next = nextOf(state, queue, ring);
  return next < q.issued && q.hasCommitted(next - q.retired);
}

void ImplSystem::enabled(const ImplState &state, std::vector<Step> &steps) const {
  steps.clear();
  for (EngineId e : kernel.engines.ids()) {
    if (mayExecute(state, e)) {
      steps.push_back(stepOf(state, e));
    }
  }
  for (QueueId q : kernel.queues.ids()) {
    for (uint32_t place = 0; place < state.queues[q].inFlight(); ++place) {
      if (state.queues[q].mayCommit(place, machine.queueOverlap)) {
        steps.push_back(Step::commit(kernel.queues[q].engine, q, place));
      }
    }
    for (uint32_t ring = 0; ring < ringsOf(q); ++ring) {
      if (mayComplete(state, q, ring)) {
        steps.push_back(completionOf(q, ring));
      }
    }
  }
}

bool ImplSystem::isEnabled(const ImplState &state, const Step &step) const {
  switch (step.kind) {
  case StepKind::Control:
  case StepKind::Issue:
    return mayExecute(state, step.engine) && stepOf(state, step.engine) == step;
  case StepKind::Commit:
    return state.queues[step.queue].mayCommit(step.index, machine.queueOverlap);
  default:
    return step.index < ringsOf(step.queue) &&
           step.kind == completionOf(step.queue, step.index).kind &&
           mayComplete(state, step.queue, step.index);
  }
}

bool ImplSystem::finished(const ImplState &state) const {
  for (EngineId e : kernel.engines.ids()) {
    if (head(state, e) || holder(state, e).valid()) {
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
    blocked.queue = drain ? holder(state, engine) : kernel.instrs[blocked.op->instr()].queue;
  }
  return blocked;
}

//===----------------------------------------------------------------------===//
// 3. Step: what happens
//===----------------------------------------------------------------------===//

void ImplSystem::raise(ImplState &state, SemaId semaphore, uint32_t amount) const {
  state.semaphores[semaphore] = (state.semaphores[semaphore] + amount) & counterMask;
}

void ImplSystem::execute(ImplState &state, EngineId engine, ImplObserver &observer) const {
  const Op &op = *head(state, engine);
  const ImplPoint &point = trajectories[engine][state.at[engine]];
  ++state.at[engine];
  if (op.wait.valid()) {
    observer.onWait(engine, op.wait, point.threshold);
  }
  switch (op.kind) {
  case OpKind::Issue: {
    QueueId queue = kernel.instrs[op.instr()].queue;
    ++state.queues[queue].issued;
    return observer.onIssue(engine, queue, {op.instr(), point.run});
  }
  case OpKind::Signal:
    raise(state, op.signal, op.amount);
    return observer.onSignal(engine, op.signal, op.amount);
  case OpKind::Reset:
    std::fill_n(state.semaphores.begin() + op.signal.value, op.amount, 0);
    return observer.onReset(engine, op.signal, op.amount);
  case OpKind::Drain:
    return observer.onDrain(engine);
  default:
    return;
  }
}

void ImplSystem::commit(ImplState &state, QueueId queue, uint32_t place,
                        ImplObserver &observer) const {
  QueueState &q = state.queues[queue];
  q.committed |= uint64_t(1) << place;
  Instance instance = instanceAt(queue, q.retired + place);
  if (options.datapath) {
    options.datapath->commit(state.memory, instance);
  }
  observer.onCommit(queue, instance);
}

/// An instruction retires when its last ring has completed it.
void ImplSystem::complete(ImplState &state, QueueId queue, uint32_t ring,
                          ImplObserver &observer) const {
  QueueState &q = state.queues[queue];
  const uint32_t n = nextOf(state, queue, ring);
  const Op &op = issueAt(queue, n);
  uint32_t amount = shareOf(queue, op, ring);
  if (amount > 0) {
    raise(state, op.signal, amount);
  }
  if (isSplit(queue)) {
    uint32_t *rings = state.rings.data() + firstRings[queue];
    ++rings[ring];
    observer.onDeliver(queue, ring, instanceAt(queue, n), op.signal, amount);
    if (*std::min_element(rings, rings + ringsOf(queue)) == q.retired) {
      return;
    }
    amount = 0;
  }
  ++q.retired;
  q.committed >>= 1;
  observer.onRetire(queue, instanceAt(queue, n), op.signal, amount);
}

void ImplSystem::apply(ImplState &state, const Step &step, ImplObserver *observer) const {
  assert(isEnabled(state, step) && "only enabled steps are performed");
  ImplObserver nobody;
  ImplObserver &told = observer ? *observer : nobody;
  switch (step.kind) {
  case StepKind::Control:
  case StepKind::Issue:
    return execute(state, step.engine, told);
  case StepKind::Commit:
    return commit(state, step.queue, step.index, told);
  case StepKind::Deliver:
  case StepKind::Retire:
    return complete(state, step.queue, step.index, told);
  }
}

} // namespace tally
