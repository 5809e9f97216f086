//===- CounterDemand.cpp - What one engine has to count -------------------===//

#include "CounterDemand.h"

#include <algorithm>

namespace tally {

CounterDemand::CounterDemand(const EmitContext &context, KnownExprs &known, EngineId engine)
    : totals(context.kernel.loops.size()), trips(context.kernel.loops.size()),
      rings(context.plan.rings.size()), ringsAt(context.kernel.loops.size()),
      enters(context.kernel.loops.size(), false), context(context), knownExprs(known),
      engine(engine) {
  if (std::ranges::any_of(context.plan.groups, [](const Group &g) { return !g.body.valid(); })) {
    places.resize(context.kernel.instrs.size());
    running.resize(context.kernel.queues.size());
  }
  for (InstrId instr : context.instrsOf[engine.value]) {
    for (const KeptWait *w = context.waits.begin(instr); w != context.waits.end(instr); ++w) {
      demand(context.exprs.legal(w->threshold), context.rootPositionOf(instr));
    }
  }
  std::sort(followed.begin(), followed.end());
  findPath();
}

static void want(Counter &counter, uint32_t stmt) {
  counter.wanted = true;
  counter.lastStmt = std::max(counter.lastStmt, stmt);
}

/// Marks the counters of `expr` as read in statement `stmt` of the root. Consumers come in
/// order, so seeing an expression again in the same statement adds nothing.
void CounterDemand::demand(ExprId expr, uint32_t stmt) {
  Known &known = knownExprs.on(engine, expr);
  if (known.demandedIn == stmt) {
    return;
  }
  known.demandedIn = stmt;
  const Expr &node = context.exprs.pool()[expr];
  switch (node.op) {
  case ExprOp::Const:
    return;
  case ExprOp::Total:
    want(totals[LoopId(node.a)], stmt);
    return;
  case ExprOp::Trip:
    want(trips[LoopId(node.a)], stmt);
    return;
  case ExprOp::Snapshot:
    demandRing(RingId(node.a), stmt);
    return;
  case ExprOp::Ordinal:
    demandPlace(InstrId(node.a), stmt);
    return;
  default:
    demand(ExprId(node.a), stmt);
    demand(ExprId(node.b), stmt);
  }
}

void CounterDemand::demandRing(RingId id, uint32_t stmt) {
  const Ring &ring = context.plan.rings[id];
  if (!rings[id].wanted) {
    ringsAt[ring.loop].push_back(id);
  }
  want(rings[id], stmt);
  if (ring.total.valid()) {
    want(totals[ring.total], stmt);
  } else {
    demandPlace(ring.ordinal, stmt);
  }
}

void CounterDemand::demandPlace(InstrId producer, uint32_t stmt) {
  if (!places[producer].wanted) {
    followed.push_back(producer);
  }
  want(places[producer], stmt);
  want(running[context.kernel.instrs[producer].queue], stmt);
}

void CounterDemand::findPath() {
  for (InstrId instr : context.instrsOf[engine.value]) {
    enter(context.kernel.instrs[instr].home);
  }
  for (LoopId loop : enters.ids()) {
    if (totals[loop].wanted || trips[loop].wanted || !ringsAt[loop].empty()) {
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

void CounterDemand::enter(LoopId loop) {
  while (loop.valid() && !enters[loop]) {
    enters[loop] = true;
    loop = context.kernel.loops[loop].parent;
  }
}

} // namespace tally
