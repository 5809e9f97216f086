//===- RaceRun.cpp - One schedule, watched --------------------------------===//

#include "RaceRun.h"

#include <algorithm>

namespace tally::check {

RaceSubject::RaceSubject(const Kernel &kernel, const Code &code, const Machine &machine,
                         const Bindings &bindings, const ImplOptions &options)
    : kernel(kernel), code(code), machine(machine), bindings(bindings),
      system(kernel, code, machine, bindings, options),
      owed(kernel, bindings, options.maxOperations),
      datapath(kernel.accesses.empty()
                   ? nullptr
                   : std::make_unique<Datapath>(kernel, bindings, options.maxOperations)),
      isWaitedFor(waitedFor(code)) {
  uint32_t first = 0;
  for (const EngineProgram &program : code.engines) {
    firstOp.push(first);
    first += static_cast<uint32_t>(program.ops.size());
  }
}

RaceRun::RaceRun(const RaceSubject &subject, const MustOrder *must)
    : subject(subject), state(subject.system.initial()),
      order(subject.kernel, subject.code.semaphores.size(), subject.machine), must(must),
      cells(subject.datapath ? subject.datapath->numCells() : 0),
      numbers(subject.kernel.instrs.size()), needed(subject.kernel.queues.size(), 0),
      pending(subject.kernel.engines.size() * subject.kernel.queues.size()),
      isHeld(subject.kernel.engines.size(), false) {
  for (EngineId engine : subject.kernel.engines.ids()) {
    noteArrival(engine);
  }
}

void RaceRun::relax(EngineId engine, const WaitExcess &excess) {
  relaxedEngine = engine;
  relaxedQueue = excess.queue;
  for (const ExcessRun &run : excess.runs) {
    relaxed[run.at] = run.needed;
  }
}

void RaceRun::apply(const Step &step) {
  bool isSequencer = step.kind == StepKind::Control || step.kind == StepKind::Issue;
  if (isSequencer) {
    order.step(step.engine);
  }
  steps.push_back(step);
  subject.system.apply(state, step, this);
  if (isSequencer) {
    noteArrival(step.engine);
  }
}

/// Looks at the wait that the engine has come to.
void RaceRun::noteArrival(EngineId engine) {
  const Op *op = subject.system.head(state, engine);
  isHeld[engine] = op && !subject.system.waitPasses(state, engine);
}

void RaceRun::finish() {
  for (EngineId engine : subject.kernel.engines.ids()) {
    Blocked blocked = subject.system.whyBlocked(state, engine);
    if (blocked.kind == Blocked::Kind::Wait) {
      order.blocked(engine, blocked.semaphore, subject.numberOf(engine, *blocked.op));
    }
    for (QueueId queue : subject.kernel.queues.ids()) {
      closePending(engine, queue);
    }
  }
  order.finish();
}

//===----------------------------------------------------------------------===//
// What happened
//===----------------------------------------------------------------------===//

/// The operation at a place in the trajectory of an engine, numbered over all engines.
uint32_t RaceRun::opAt(EngineId engine, uint32_t at) const {
  return subject.firstOp[engine] + subject.system.trajectory(engine)[at].op;
}

/// The one that the engine just executed.
uint32_t RaceRun::currentOp(EngineId engine) const {
  return opAt(engine, state.at[engine] - 1);
}

/// The one that issued an instruction, by its number in the queue.
uint32_t RaceRun::opOfInstance(QueueId queue, uint32_t number) const {
  return opAt(subject.kernel.queues[queue].engine, subject.system.issuesOf(queue)[number - 1]);
}

void RaceRun::onWait(EngineId engine, SemaId sema, uint32_t threshold) {
  bool isNegative = threshold >= subject.machine.counterLimit();
  uint32_t at = state.at[engine] - 1;
  ++passes[currentOp(engine)];
  auto less = engine == relaxedEngine ? relaxed.find(at) : relaxed.end();
  if (less != relaxed.end()) {
    order.waitForNumber(engine, sema, relaxedQueue, less->second);
    return;
  }
  noteWait(engine, sema, isNegative ? 0 : threshold);
}

void RaceRun::onIssue(EngineId engine, QueueId queue, Instance instance) {
  std::fill(needed.begin(), needed.end(), 0);
  uint32_t number = current = order.issue(queue);
  checkDeps(queue, instance);
  if (subject.datapath) {
    // An instruction may read and write a cell. Its own marks must not hide what others of its
    // queue have left there, so all of its accesses are compared before the first one counts.
    const Footprint &touched = subject.datapath->footprint(instance);
    touched.forEach([&](CellId cell, AccessKind kind) { checkCell(cell, queue, instance, kind); });
    touched.forEach([&](CellId cell, AccessKind kind) { marksOf(cell, queue)[kind] = number; });
  }
  std::vector<uint32_t> &own = numbers[instance.instr];
  own.resize(std::max<size_t>(own.size(), instance.run + 1), 0);
  own[instance.run] = number;
  for (QueueId q : subject.kernel.queues.ids()) {
    Pending &wait = pendingOf(engine, q);
    wait.needed = std::max(wait.needed, needed[q]);
    wait.wasUsed = true;
  }
}

void RaceRun::onDeliver(QueueId queue, uint32_t ring, Instance, SemaId sema, uint32_t amount) {
  uint32_t number = subject.system.nextOf(state, queue, ring); // it has been counted
  order.deliver(queue, ring, amount > 0 ? sema : SemaId(), amount, opOfInstance(queue, number));
}

/// A split queue has told all by its rings.
void RaceRun::onRetire(QueueId queue, Instance, SemaId sema, uint32_t amount) {
  if (!subject.system.isSplit(queue)) {
    uint32_t op = opOfInstance(queue, state.queues[queue].retired);
    order.deliver(queue, 0, amount > 0 ? sema : SemaId(), amount, op);
  }
}

void RaceRun::onSignal(EngineId engine, SemaId sema, uint32_t amount) {
  order.signal(engine, sema, amount, currentOp(engine));
  for (QueueId queue : subject.kernel.queues.ids()) {
    pendingOf(engine, queue).hasSignalled = true;
  }
}

void RaceRun::onReset(EngineId engine, SemaId first, uint32_t count) {
  order.reset(engine, first, count, currentOp(engine));
}

void RaceRun::onDrain(EngineId engine) {
  order.drain(engine);
}

//===----------------------------------------------------------------------===//
// What had to come before
//===----------------------------------------------------------------------===//

/// Whether instruction `number` of a queue has surely retired before the one issued now is.
bool RaceRun::isOverAtIssue(QueueId earlier, uint32_t number, QueueId later) const {
  EngineId engine = subject.kernel.queues[later].engine;
  return number <=
         (must ? must->finished(earlier, later, current) : order.finished(earlier, engine));
}

/// A pair that touches many cells counts once. Which one comes first in the text, not in this run,
/// tells a use that is too early from a slot that is written too early.
void RaceRun::addFault(OrderFault fault) {
  fault.swapped = !fault.dep.valid() && subject.isInTextBefore(fault.later, fault.earlier);
  auto key = std::make_tuple(fault.producer().instr, fault.consumer().instr, fault.dep.valid());
  auto [entry, isNew] = faultOf.try_emplace(key, KnownFault{faults.size(), {}, {}});
  if (isNew) {
    faults.push_back(fault);
  }
  KnownFault &known = entry->second;
  bool isCounted = known.earlier == fault.earlier && known.later == fault.later;
  faults[known.index].count += isNew || !isCounted;
  known.earlier = fault.earlier;
  known.later = fault.later;
}

void RaceRun::checkDeps(QueueId queue, Instance instance) {
  for (DepId id : subject.owed.depsOf(instance.instr)) {
    uint32_t runs = subject.owed.of(id, instance.run);
    if (runs == 0) {
      continue;
    }
    InstrId producer = subject.kernel.deps[id].producer;
    QueueId earlier = subject.kernel.instrs[producer].queue;
    const std::vector<uint32_t> &known = numbers[producer];
    uint32_t number = runs <= known.size() ? known[runs - 1] : 0;
    needed[earlier] = std::max(needed[earlier], number);
    if (number == 0 || !isOverAtIssue(earlier, number, queue)) {
      addFault({{producer, runs - 1}, instance, false, id, false, false, number != 0, false, 0});
    }
  }
}

/// Instructions of a queue finish in order, so the last ones speak for all.
void RaceRun::checkCell(CellId cell, QueueId queue, Instance instance, AccessKind kind) {
  for (const auto &[markedBy, marks] : cells[cell.value]) {
    bool sameQueue = markedBy == queue;
    uint32_t writer =
        marks.writerBefore(kind, sameQueue && subject.kernel.queues[queue].addsInOrder);
    for (uint32_t earlier : {writer, marks.readerBefore(kind)}) {
      if (earlier == 0) {
        continue;
      }
      needed[markedBy] = std::max(needed[markedBy], earlier);
      Instance first = subject.system.instanceAt(markedBy, earlier - 1);
      bool isOver = (sameQueue && !subject.machine.queueOverlap) || // before it touches anything
                    isOverAtIssue(markedBy, earlier, queue);
      if (!isOver || subject.isInTextBefore(instance, first)) {
        bool writes = kind != AccessKind::Read;
        addFault({first, instance, false, {}, earlier == writer, writes, true, isOver, 0});
      }
    }
  }
}

CellMarks &RaceRun::marksOf(CellId cell, QueueId queue) {
  for (auto &[markedBy, marks] : cells[cell.value]) {
    if (markedBy == queue) {
      return marks;
    }
  }
  return cells[cell.value].emplace_back(queue, CellMarks()).second;
}

//===----------------------------------------------------------------------===//
// What waits were for
//===----------------------------------------------------------------------===//

/// A wait matters to a queue if it is the first to say that some completion has come. What it is
/// needed for ends with the next wait for this queue.
void RaceRun::noteWait(EngineId engine, SemaId sema, uint32_t threshold) {
  std::vector<uint32_t> before;
  for (QueueId queue : subject.kernel.queues.ids()) {
    before.push_back(order.finished(queue, engine));
  }
  order.wait(engine, sema, threshold, currentOp(engine));
  for (QueueId queue : subject.kernel.queues.ids()) {
    uint32_t forced = order.forcedByWait(queue);
    if (forced != 0) {
      closePending(engine, queue);
    }
    if (forced > before[queue.value]) {
      pendingOf(engine, queue) = {
          currentOp(engine), state.at[engine] - 1, forced, 0, isHeld[engine], false, false};
    }
  }
}

/// The next wait for this queue has come, or the end.
void RaceRun::closePending(EngineId engine, QueueId queue) {
  Pending &wait = pendingOf(engine, queue);
  if (wait.op != UINT32_MAX && wait.wasUsed && !wait.hasSignalled && wait.needed < wait.forced) {
    WaitExcess &excess = excesses[wait.op];
    excess.engine = engine;
    excess.queue = queue;
    excess.runs.push_back({wait.at, wait.needed});
    excess.held += wait.held;
  }
  wait = Pending();
}

uint64_t RaceRun::passesOf(uint32_t op) const {
  auto found = passes.find(op);
  return found == passes.end() ? 0 : found->second;
}

} // namespace tally::check
