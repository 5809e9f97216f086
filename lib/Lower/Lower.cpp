//===- Lower.cpp - From plan to per-engine code ---------------------------===//
//
// Steps:  1. waits       which of the planned waits stand (KeptWaits.h)
//         2. semaphores  one for each group, named after what it counts
//         3. emit        the operations of each engine, by family of strategies
//         4. registers   values to registers (Registers.h)
//         5. write out  loops that the kernel unrolls, or that only count (WriteOut.cpp)
//         6. numbers     around those that are reserved, with those that are pinned (Numbers.cpp)
//         7. tell apart  semaphores with equal names
//===----------------------------------------------------------------------===//

#include "Emit.h"
#include "tally/Code/Limits.h"
#include "tally/Support/Names.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <thread>

namespace tally {

using namespace lowering;

namespace {

/// "A.act": body and queue; the queue alone for the root or all bodies; a sole member's name. Of a
/// join, the `if` is the body.
std::string nameOf(const Kernel &kernel, const Group &group) {
  if (group.sole.valid()) {
    return std::string(kernel.nameOf(group.sole));
  }
  std::string_view queue = kernel.nameOf(group.queue);
  LoopId body = group.isJoin() ? kernel.instrs[group.inThen].home : group.body;
  bool ofQueue = !body.valid() || body == rootLoop;
  return ofQueue ? std::string(queue) : fmt::format("{}.{}", kernel.nameOf(body), queue);
}

/// Two may be equal until tellApart().
void nameSemaphores(const Kernel &kernel, const SyncPlan &plan, Code &code) {
  code.semaphores.reserve(plan.groups.size());
  for (const Group &group : plan.groups) {
    code.semaphores.push({nameOf(kernel, group)});
  }
}

/// Loops and queues may have dots in their names, too, or be named as what a barrier needs.
void tellApart(const Kernel &kernel, IdVector<SemaId, Semaphore> &semaphores) {
  FreshNames names(kernel.strings);
  for (Semaphore &semaphore : semaphores) {
    semaphore.name = names.add(std::move(semaphore.name));
  }
}

std::string roleText(const Kernel &kernel, const SyncPlan &plan, const ExprPool &exprs,
                     const CounterRole &role) {
  switch (role.kind) {
  case RegisterRole::Kind::Temporary:
    return "";
  case RegisterRole::Kind::Total:
    return fmt::format("total({})", kernel.nameOf(LoopId(role.id)));
  case RegisterRole::Kind::Trip:
    return fmt::format("trip({})", kernel.nameOf(LoopId(role.id)));
  case RegisterRole::Kind::Slot:
    return slotText(kernel, plan.rings[RingId(role.id)], role.slot);
  case RegisterRole::Kind::Rounds:
    return roundsText(kernel, plan.rounds[RoundsId(role.id)]);
  case RegisterRole::Kind::NextRound:
    return "next of " + roundsText(kernel, plan.rounds[RoundsId(role.id)]);
  case RegisterRole::Kind::Place:
    return fmt::format("place({})", kernel.nameOf(InstrId(role.id)));
  case RegisterRole::Kind::NextThreshold:
    return fmt::format("next {}",
                       toString(exprs, ExprId(role.id), plan.rings, plan.rounds, kernel));
  case RegisterRole::Kind::Running:
    return fmt::format("running({})", kernel.nameOf(QueueId(role.id)));
  case RegisterRole::Kind::Several:
  case RegisterRole::Kind::Written:
    break; // no counter is made so
  }
  return "";
}

/// What one register holds in turn; of a large kernel, the first of it is named.
RegisterRole roleOf(const Kernel &kernel, const SyncPlan &plan, const ExprPool &exprs,
                    std::vector<CounterRole> &roles) {
  constexpr size_t most = 16;
  using Kind = RegisterRole::Kind;
  auto steps = [](const CounterRole &role) { return role.kind == Kind::NextThreshold; };
  std::ranges::stable_partition(roles, steps);
  RegisterRole result;
  if (!roles.empty()) {
    bool isOne = roles.size() == 1 || steps(roles.front());
    result.kind = isOne ? roles.front().kind : Kind::Several;
    bool ofLoop = result.kind == Kind::Total || result.kind == Kind::Trip;
    result.loop = ofLoop ? LoopId(roles.front().id) : LoopId();
  }
  for (size_t i = 0; i < std::min(most, roles.size()); ++i) {
    result.text += result.text.empty() ? "" : ", ";
    result.text += roleText(kernel, plan, exprs, roles[i]);
  }
  result.text += roles.size() <= most ? "" : fmt::format(", and {} more", roles.size() - most);
  return result;
}

EngineProgram finish(const Kernel &kernel, const SyncPlan &plan, const ExprPool &exprs,
                     const Machine &machine, EngineId engine, const ValueCode &values) {
  AllocatedCode allocated = allocateRegisters(
      values, unreserved(machine.registersPerEngine, kernel.engines[engine].reserved));
  EngineProgram program;
  program.engine = engine;
  program.ops = std::move(allocated.ops);
  for (uint32_t reg = 0; reg < allocated.numRegisters; ++reg) {
    std::vector<CounterRole> roles;
    for (uint32_t value : allocated.countersOf[reg]) {
      roles.push_back(values.values[value].role);
    }
    program.registers.push({fmt::format("r{}", reg), roleOf(kernel, plan, exprs, roles)});
  }
  return program;
}

/// Engines do not depend on each other: each takes the next one until none is left. The result is
/// the same with any number of threads.
void emitEngines(const EmitContext &context, const Machine &machine, Code &code) {
  constexpr size_t worthAThread = 20'000; // instructions
  size_t numEngines = context.kernel.engines.size();
  code.engines.resize(numEngines);
  std::atomic<uint32_t> next = 0;
  auto work = [&] {
    EmitScratch scratch{KnownExprs(context.exprs.pool().size()), {}};
    for (uint32_t e = next++; e < numEngines; e = next++) {
      emitCounting(context, scratch, EngineId(e));
      code.engines[EngineId(e)] = finish(context.kernel, context.plan, context.exprs.pool(),
                                         machine, EngineId(e), scratch.program);
    }
  };
  bool isLarge = context.kernel.instrs.size() >= worthAThread;
  size_t numThreads = isLarge ? std::min<size_t>(numEngines, context.decisions.threads) : 1;
  std::vector<std::jthread> others;
  for (size_t t = 1; t < numThreads; ++t) {
    others.emplace_back(work);
  }
  work();
}

} // namespace

EmitContext::EmitContext(const Kernel &kernel, const SyncPlan &plan, const Machine &machine,
                         const LowerDecisions &decisions, Code &code)
    : kernel(kernel), plan(plan), decisions(decisions), waits(kernel, plan, code),
      exprs(plan, machine), meetings(kernel, plan, code), instrsOf(kernel.engines.size()),
      rootPosition(kernel.loops.size(), 0), loopsOf(kernel.queues.size()),
      firstPosition(kernel.queues.size(), Id<void>::noneValue) {
  for (LoopId l : kernel.loops.ids()) {
    const Loop &loop = kernel.loops[l];
    if (loop.parent.valid()) {
      rootPosition[l] =
          loop.parent == rootLoop ? kernel.stmts[loop.stmt].position : rootPosition[loop.parent];
    }
  }
  for (InstrId i : kernel.instrs.ids()) {
    const Instr &instr = kernel.instrs[i];
    instrsOf[kernel.engineOf(i).value].push_back(i);
    if (!plan.sharesQueue(i)) {
      continue;
    }
    if (loopsOf[instr.queue].empty() || loopsOf[instr.queue].back() != instr.home) {
      loopsOf[instr.queue].push_back(instr.home);
    }
    if (firstPosition[instr.queue] == Id<void>::noneValue) {
      firstPosition[instr.queue] = rootPositionOf(i);
    }
  }
}

std::span<const InstrId> EmitContext::instrsIn(const Stmt &block, EngineId engine) const {
  InstrId begin(block.instrs.first);
  auto first = std::ranges::lower_bound(instrsOf[engine.value], begin);
  InstrId end(begin.value + block.instrs.count);
  return {first, std::lower_bound(first, instrsOf[engine.value].end(), end)};
}

uint32_t EmitContext::rootPositionOf(InstrId id) const {
  const Instr &instr = kernel.instrs[id];
  return instr.home == rootLoop ? kernel.stmts[instr.block].position : rootPosition[instr.home];
}

void EmitContext::setSignal(Op &op, InstrId instr) const {
  GroupId group = plan.groupOf[instr];
  if (group.valid()) {
    op.signal = SemaId(group.value);
    op.amount = kernel.queues[kernel.instrs[instr].queue].weight;
  }
}

void lowering::makeRoomForWait(std::vector<Op> &ops, Op &op) {
  if (!op.wait.valid()) {
    return;
  }
  Op wait = Op::makeWait(op.wait, op.a);
  wait.firstReason = op.firstReason;
  wait.numReasons = op.numReasons;
  ops.push_back(wait);
}

void lowering::setWait(Op &op, SemaId sema, Operand threshold, uint32_t firstReason,
                       uint32_t numReasons) {
  op.wait = sema;
  op.a = threshold;
  op.firstReason = firstReason;
  op.numReasons = numReasons;
}

Code lower(const Kernel &kernel, const SyncPlan &plan, const Machine &machine,
           const LowerDecisions &decisions, Diagnostics &diagnostics) {
  Code code;
  code.strategy = plan.decisions.strategy;
  code.machine = machine.name;
  code.rules = rulesOf(machine);
  nameSemaphores(kernel, plan, code);

  EmitContext context(kernel, plan, machine, decisions, code);
  if (countsAtRunTime(plan.decisions.strategy)) {
    emitEngines(context, machine, code);
    writeOut(kernel, decisions.countAtOnce, plan.decisions.counterLimit, code);
  } else if (plan.decisions.strategy == Strategy::Barrier) {
    emitBarriers(context, code);
  } else {
    emitUnrolled(context, code, diagnostics);
  }
  assignNumbers(kernel, plan, code);
  tellApart(kernel, code.semaphores);
  return code;
}

} // namespace tally
