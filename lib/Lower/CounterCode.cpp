//===- CounterCode.cpp - Where counters start, move and end ---------------===//

#include "CounterCode.h"

#include "tally/Model/RunNumbers.h"

#include <algorithm>

namespace tally::lowering {

using Kind = RegisterRole::Kind;

CounterCode::CounterCode(const EmitContext &context, CounterDemand &demand, KnownExprs &known,
                         ValueWriter &writer)
    : context(context), kernel(context.kernel), plan(context.plan), demand(demand), known(known),
      writer(writer), endings(kernel.loops[rootLoop].body.size()) {}

//===----------------------------------------------------------------------===//
// Start and end
//===----------------------------------------------------------------------===//

void CounterCode::startBefore(const Stmt &stmt) {
  while (nextLoop < kernel.loops.size() &&
         context.rootPosition[LoopId(nextLoop)] == stmt.position) {
    startCountersOf(LoopId(nextLoop++));
  }
  for (QueueId queue : demand.running.ids()) {
    bool first = context.firstPosition[queue] == stmt.position;
    if (first && demand.isFollowed(queue, stmt.position)) {
      start(demand.running[queue], {Kind::Running, queue.value, 0});
    }
  }
  while (nextFollowed < demand.followed.size() &&
         context.rootPositionOf(demand.followed[nextFollowed]) == stmt.position) {
    InstrId producer = demand.followed[nextFollowed++];
    start(demand.places[producer], {Kind::Place, producer.value, 0});
  }
}

void CounterCode::startCountersOf(LoopId loop) {
  if (demand.totals[loop].wanted && !demand.totals[loop].native) {
    start(demand.totals[loop], {Kind::Total, loop.value, 0});
  }
  for (const Stepped &stepped : demand.steppedAt[loop]) {
    RegId value =
        writer.startCounter({Kind::NextThreshold, stepped.expr.value, 0}, stepped.form.first());
    known[stepped.expr].stepped = value;
    endings[stepped.lastStmt].push_back(value);
  }
  for (RingId ring : demand.ringsAt[loop]) {
    for (uint32_t slot = 1; slot <= demand.rings[ring].slots; ++slot) {
      RegId value = writer.startCounter({Kind::Slot, ring.value, slot});
      endings[demand.rings[ring].lastStmt].push_back(value);
      demand.rings[ring].value = slot == 1 ? value : demand.rings[ring].value;
    }
  }
}

void CounterCode::start(Counter &counter, CounterRole role) {
  counter.value = writer.startCounter(role);
  endings[counter.lastStmt].push_back(counter.value);
}

void CounterCode::endAfter(const Stmt &stmt) {
  for (RegId counter : endings[stmt.position]) {
    writer.endCounter(counter);
  }
}

RegId CounterCode::beforeLoop(LoopId loop) {
  Counter &trip = demand.trips[loop];
  Counter &total = demand.totals[loop];
  for (RoundsId id : demand.roundsFrom[loop]) {
    const Rounds &rounds = plan.rounds[id];
    auto ahead = RunNumbers::below(kernel, rounds.around, rounds.loop)->ahead();
    demand.rounds[id].value = writer.startCounter({Kind::Rounds, id.value, 0});
    writer.startCounter({Kind::NextRound, id.value, 0},
                        rounds.first + static_cast<uint32_t>(ahead));
  }
  if (trip.native) {
    return trip.value = writer.newCounter({Kind::Trip, loop.value, 0});
  }
  if (trip.wanted) {
    trip.value = writer.startCounter({Kind::Trip, loop.value, 0});
  }
  if (total.native) {
    return total.value = writer.newCounter({Kind::Total, loop.value, 0});
  }
  return RegId();
}

void CounterCode::afterLoop(LoopId loop) {
  const Counter &trip = demand.trips[loop];
  const Counter &total = demand.totals[loop];
  if (trip.wanted || trip.native) {
    writer.endCounter(trip.value);
  }
  if (total.native) {
    writer.endCounter(total.value);
  }
  for (RoundsId id : demand.roundsFrom[loop]) {
    writer.endCounter(demand.rounds[id].value);
    writer.endCounter(RegId(demand.rounds[id].value.value + 1));
  }
}

//===----------------------------------------------------------------------===//
// Move
//===----------------------------------------------------------------------===//

void CounterCode::atEntry(LoopId body) {
  for (const Counter *counter : {&demand.trips[body], &demand.totals[body]}) {
    if (counter->wanted && !counter->native) {
      writer.bump(counter->value);
    }
  }
  for (RoundsId id : demand.roundsAt[body]) {
    beginRound(id);
  }
  shiftRings(body, StmtId());
}

/// If this run is the next that begins a round, there is one more, and the next is so many later.
void CounterCode::beginRound(RoundsId id) {
  const Rounds &rounds = plan.rounds[id];
  Operand begun = Operand::reg(demand.rounds[id].value);
  Operand next = Operand::reg(RegId(begun.value + 1));
  uint32_t depth = kernel.loops[rounds.loop].depth;
  Operand isNext = Operand::reg(writer.compute(AluOp::IsGT, runNumber(rounds), next, depth));
  writer.change(begun.asRegister(), isNext);
  Operand later =
      Operand::reg(writer.compute(AluOp::Mul, isNext, Operand::number(rounds.every), depth));
  writer.change(next.asRegister(), later);
}

/// From 1, and ahead by what RunNumbers says.
Operand CounterCode::runNumber(const Rounds &rounds) {
  RunNumbers numbers = *RunNumbers::below(kernel, rounds.around, rounds.loop);
  uint32_t depth = kernel.loops[rounds.loop].depth;
  Operand sum;
  for (size_t level = 0; level < numbers.loops().size(); ++level) {
    Operand runs = Operand::reg(demand.trips[numbers.loops()[level]].value);
    if (auto each = static_cast<uint32_t>(numbers.runsPerIteration(level)); each != 1) {
      runs = Operand::reg(writer.compute(AluOp::Mul, runs, Operand::number(each), depth));
    }
    sum = level == 0 ? runs : Operand::reg(writer.compute(AluOp::Add, sum, runs, depth));
  }
  return sum;
}

void CounterCode::shiftRings(LoopId body, StmtId before) {
  for (RingId ring : demand.ringsAt[body]) {
    if (plan.rings[ring].before == before) {
      shift(ring);
    }
  }
}

void CounterCode::shift(RingId id) {
  const Ring &ring = plan.rings[id];
  uint32_t first = demand.rings[id].value.value;
  for (uint32_t slot = demand.rings[id].slots; slot-- > 1;) {
    writer.move(RegId(first + slot), RegId(first + slot - 1));
  }
  writer.move(RegId(first), ring.total.valid() ? demand.totals[ring.total].value
                                               : demand.places[ring.ordinal].value);
}

void CounterCode::atEnd(LoopId body) {
  for (const Stepped &stepped : demand.steppedAt[body]) {
    writer.bump(known[stepped.expr].stepped, stepped.form.factor);
  }
}

void CounterCode::atBlock(const Stmt &stmt) {
  if (demand.running.empty()) {
    return;
  }
  queuesHere.clear();
  uint32_t here = context.rootPositionOf(stmt.instrs[0]);
  for (InstrId instr : stmt.instrs) {
    QueueId queue = kernel.instrs[instr].queue;
    if (!plan.sharesQueue(instr) || !demand.isFollowed(queue, here)) {
      continue;
    }
    if (plan.placeOf[instr] == 1) {
      queuesHere.push_back({queue, 0});
    }
    if (demand.places[instr].wanted && here <= demand.places[instr].lastStmt) {
      writer.sum(demand.places[instr].value, demand.running[queue].value,
                 plan.placeOf[instr] * kernel.queues[queue].weight);
    }
    auto entry = std::ranges::find(queuesHere, queue, &std::pair<QueueId, uint32_t>::first);
    entry->second += kernel.queues[queue].weight;
  }
  for (auto [queue, raised] : queuesHere) {
    writer.bump(demand.running[queue].value, raised);
  }
}

//===----------------------------------------------------------------------===//
// Read
//===----------------------------------------------------------------------===//

Operand CounterCode::operandOf(const Expr &leaf) const {
  switch (leaf.op) {
  case ExprOp::Total:
    return Operand::reg(demand.totals[LoopId(leaf.a)].value);
  case ExprOp::Trip:
    return Operand::reg(demand.trips[LoopId(leaf.a)].value);
  case ExprOp::Rounds:
    return Operand::reg(demand.rounds[RoundsId(leaf.a)].value);
  case ExprOp::Snapshot:
    return Operand::reg(RegId(demand.rings[RingId(leaf.a)].value.value + leaf.b - 1));
  case ExprOp::Ordinal:
    return Operand::reg(demand.places[InstrId(leaf.a)].value);
  default:
    return Operand::number(leaf.a);
  }
}

} // namespace tally::lowering
