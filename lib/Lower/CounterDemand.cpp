//===- CounterDemand.cpp - What one engine has to count -------------------===//

#include "CounterDemand.h"

#include <algorithm>

namespace tally::lowering {

CounterDemand::CounterDemand(const EmitContext &context, KnownExprs &known, EngineId engine)
    : totals(context.kernel.loops.size()), trips(context.kernel.loops.size()),
      rings(context.plan.rings.size()), rounds(context.plan.rounds.size()),
      ringsAt(context.kernel.loops.size()), roundsAt(context.kernel.loops.size()),
      roundsFrom(context.kernel.loops.size()), steppedAt(context.kernel.loops.size()),
      enters(context.kernel.loops.size(), false), context(context), knownExprs(known),
      engine(engine) {
  if (std::ranges::any_of(context.plan.groups, [](const Group &g) { return !g.body.valid(); })) {
    places.resize(context.kernel.instrs.size());
    running.resize(context.kernel.queues.size());
  }
  for (InstrId instr : context.instrsOf[engine.value]) {
    for (const KeptWait &w : context.waits.of(instr)) {
      demand(context.exprs.legal(w.threshold), instr, context.rootPositionOf(instr));
    }
  }
  demandResets();
  dropSteps();
  std::sort(followed.begin(), followed.end());
  findPath();
  if (context.decisions.keepCounters) {
    wantAll();
  }
  if (context.decisions.nativeCounters) {
    findNative();
  }
}

static void want(Counter &counter, uint32_t stmt) {
  counter.wanted = true;
  counter.firstStmt = std::min(counter.firstStmt, stmt);
  counter.lastStmt = std::max(counter.lastStmt, stmt);
}

/// Marks the counters of `expr` as read in statement `stmt` of the root. Consumers come in
/// order, and those of one block need the same.
void CounterDemand::demand(ExprId expr, InstrId consumer, uint32_t stmt) {
  Known &known = knownExprs.on(engine, expr);
  const Instr &instr = context.kernel.instrs[consumer];
  if (known.demandedIn == instr.block) {
    return;
  }
  known.demandedIn = instr.block;
  if (context.decisions.stepsOn(engine)) {
    std::optional<Linear> form = linearForm(context.exprs.pool(), expr);
    if (form && context.kernel.encloses(form->loop, instr.home)) {
      return step(expr, *form, stmt);
    }
  }
  const Expr &node = context.exprs.pool()[expr];
  switch (node.op) {
  case ExprOp::Const:
    return;
  case ExprOp::Total:
    return want(totals[LoopId(node.a)], stmt);
  case ExprOp::Trip:
    return want(trips[LoopId(node.a)], stmt);
  case ExprOp::Snapshot:
    return demandRing(RingId(node.a), node.b, stmt);
  case ExprOp::Rounds:
    return demandRounds(RoundsId(node.a), stmt);
  case ExprOp::Ordinal:
    return demandPlace(InstrId(node.a), stmt);
  default:
    demand(ExprId(node.a), consumer, stmt);
    demand(ExprId(node.b), consumer, stmt);
  }
}

void CounterDemand::step(ExprId expr, const Linear &form, uint32_t stmt) {
  Known &known = knownExprs.on(engine, expr);
  if (!known.steppedBy.valid()) {
    known.steppedBy = form.loop;
    known.number = static_cast<uint32_t>(steppedAt[form.loop].size());
    steppedAt[form.loop].push_back({expr, form, stmt, stmt});
  }
  uint32_t &last = steppedAt[form.loop][known.number].lastStmt;
  last = std::max(last, stmt);
}

void CounterDemand::demandRing(RingId id, uint32_t slot, uint32_t stmt) {
  const Ring &ring = context.plan.rings[id];
  if (!rings[id].wanted) {
    ringsAt[ring.loop].push_back(id);
  }
  want(rings[id], stmt);
  rings[id].slots = std::max(rings[id].slots, slot);
  if (ring.total.valid()) {
    want(totals[ring.total], stmt);
  } else {
    demandPlace(ring.ordinal, stmt);
  }
}

/// Rounds are counted by the number of the run.
void CounterDemand::demandRounds(RoundsId id, uint32_t stmt) {
  const Rounds &counted = context.plan.rounds[id];
  const Kernel &kernel = context.kernel;
  if (!rounds[id].wanted) {
    roundsAt[counted.loop].push_back(id);
    roundsFrom[kernel.childTowards(counted.around, counted.loop)].push_back(id);
  }
  want(rounds[id], stmt);
  for (LoopId loop = counted.loop; loop != counted.around; loop = kernel.loops[loop].parent) {
    want(trips[loop], stmt);
  }
}

void CounterDemand::demandPlace(InstrId producer, uint32_t stmt) {
  if (!places[producer].wanted) {
    followed.push_back(producer);
  }
  want(places[producer], stmt);
  want(running[context.kernel.instrs[producer].queue], stmt);
}

/// Everybody who takes part in a reset counts towards it.
void CounterDemand::demandResets() {
  for (const ResetPoint &point : context.plan.decisions.resets) {
    if (context.meetings.resetIn(point.loop, engine)) {
      want(totals[point.loop], context.rootPosition[point.loop]);
    }
  }
}

/// What a single operation makes of a count costs as much to step as to compute. It is worth
/// stepping only where the count itself then need not be kept; one that nothing repeats may be the
/// loop's own, and a mask was left out where it says the same as the trip.
void CounterDemand::dropSteps() {
  const Kernel &kernel = context.kernel;
  for (LoopId loop : steppedAt.ids()) {
    Counter &total = totals[loop];
    bool isRepeated = loop != rootLoop && kernel.realLoop(kernel.loops[loop].parent) != rootLoop;
    if (isRepeated && !total.wanted) {
      continue;
    }
    std::erase_if(steppedAt[loop], [&](const Stepped &stepped) {
      if (stepped.form.numOps > 1) {
        return false;
      }
      knownExprs.on(engine, stepped.expr).steppedBy = LoopId();
      want(total, stepped.firstStmt);
      want(total, stepped.lastStmt);
      return true;
    });
  }
}

void CounterDemand::findPath() {
  for (InstrId instr : context.instrsOf[engine.value]) {
    enter(context.kernel.instrs[instr].home);
  }
  for (LoopId loop : enters.ids()) {
    if (!steppedAt[loop].empty() || totals[loop].wanted || trips[loop].wanted ||
        !ringsAt[loop].empty()) {
      enter(loop);
    }
  }
  // place(P) counts every instruction that shares the queue's semaphore, wherever it is.
  for (QueueId queue : running.ids()) {
    for (LoopId loop : context.loopsOf[queue]) {
      if (isFollowed(queue, context.rootPosition[loop])) {
        enter(loop);
      }
    }
  }
}

/// Both counts of every loop on the way of this engine, needed or not.
void CounterDemand::wantAll() {
  for (LoopId loop : enters.ids()) {
    if (enters[loop] && context.kernel.loops[loop].kind == LoopKind::Loop) {
      want(totals[loop], context.rootPosition[loop]);
      want(trips[loop], context.rootPosition[loop]);
    }
  }
}

/// A loop's own counter is its trip; and its total, if no other loop repeats it and nobody reads
/// the total elsewhere.
void CounterDemand::findNative() {
  const Kernel &kernel = context.kernel;
  for (LoopId id : enters.ids()) {
    const Loop &loop = kernel.loops[id];
    bool isReset = context.meetings.resetIn(id, engine) != nullptr;
    if (loop.kind != LoopKind::Loop || !enters[id] || isReset) {
      continue;
    }
    uint32_t here = context.rootPosition[id];
    Counter &total = totals[id];
    bool onlyInside = loop.parent == rootLoop && total.firstStmt == here && total.lastStmt == here;
    trips[id].native = trips[id].wanted;
    total.native = total.wanted && onlyInside && !trips[id].wanted;
  }
}

void CounterDemand::enter(LoopId loop) {
  while (loop.valid() && !enters[loop]) {
    enters[loop] = true;
    loop = context.kernel.loops[loop].parent;
  }
}

} // namespace tally::lowering
