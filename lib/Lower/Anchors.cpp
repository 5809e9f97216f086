//===- Anchors.cpp - Where a value stands still, seen from a consumer -----===//

#include "Anchors.h"

namespace tally::lowering {

/// Where something stands still that has both for inputs.
static Anchor later(Anchor a, Anchor b) {
  if (a.depth != b.depth) {
    return a.depth > b.depth ? a : b;
  }
  return a.epoch > b.epoch ? a : b;
}

/// A counter that moves in statement `changing` of `body`: seen from a consumer in a later
/// statement, changed since then; from others, unchanged since the body began.
static Anchor beside(const Kernel &kernel, LoopId body, StmtId changing, InstrId consumer) {
  uint32_t position = kernel.stmts[changing].position;
  uint32_t here = kernel.stmts[kernel.stmtTowards(body, consumer)].position;
  return {kernel.loops[body].depth, position < here ? 2 * position + 2 : 0};
}

/// A counter that moves at the entries of `loop`.
static Anchor changedBy(const Kernel &kernel, LoopId loop, InstrId consumer) {
  LoopId common = kernel.commonLoop(loop, kernel.instrs[consumer].home);
  if (common == loop) {
    return {kernel.loops[loop].depth, 0};
  }
  StmtId changing = kernel.loops[kernel.childTowards(common, loop)].stmt;
  return beside(kernel, common, changing, consumer);
}

/// place(P) moves as the block of P begins.
static Anchor changedByBlock(const Kernel &kernel, InstrId producer, InstrId consumer) {
  LoopId common = kernel.commonLoop(kernel.instrs[producer].home, kernel.instrs[consumer].home);
  StmtId changing = kernel.stmtTowards(common, producer);
  if (changing == kernel.instrs[consumer].block) {
    return {kernel.loops[common].depth, 2 * kernel.stmts[changing].position + 1};
  }
  return beside(kernel, common, changing, consumer);
}

/// What else changes it: entries of loops that reset counts of `body`, or, if that is none, counts
/// of whole queues. (A total is reset by loops around the one that counts: that is no other place.)
static Anchor changedByReset(const Kernel &kernel, const SyncPlan &plan, LoopId body,
                             InstrId consumer, Anchor anchor) {
  if (plan.decisions.resets.empty()) {
    return anchor;
  }
  for (LoopId l = body; l.valid(); l = kernel.loops[l].parent) {
    if (plan.resetAt(l)) {
      anchor = later(anchor, changedBy(kernel, l, consumer));
    }
  }
  for (size_t i = 0; !body.valid() && i < plan.decisions.resets.size(); ++i) {
    anchor = later(anchor, changedBy(kernel, plan.decisions.resets[i].loop, consumer));
  }
  return anchor;
}

/// Where a counter stands still. The same for all consumers of one block.
static Anchor anchorOfLeaf(const Kernel &kernel, const SyncPlan &plan, const Expr &leaf,
                           InstrId consumer) {
  switch (leaf.op) {
  case ExprOp::Total:
  case ExprOp::Trip:
    return changedBy(kernel, LoopId(leaf.a), consumer);
  case ExprOp::Rounds:
    return changedBy(kernel, plan.rounds[RoundsId(leaf.a)].loop, consumer);
  case ExprOp::Snapshot: {
    const Ring &ring = plan.rings[RingId(leaf.a)];
    return changedByReset(kernel, plan, ring.total, consumer,
                          changedBy(kernel, ring.loop, consumer));
  }
  case ExprOp::Ordinal:
    return changedByReset(kernel, plan, LoopId(), consumer,
                          changedByBlock(kernel, InstrId(leaf.a), consumer));
  default:
    return Anchor();
  }
}

LoopId bodyAt(const Kernel &kernel, uint32_t depth, LoopId inner) {
  while (kernel.loops[inner].depth > depth) {
    inner = kernel.loops[inner].parent;
  }
  return inner;
}

Anchor KnownExprs::anchorOf(const Kernel &kernel, const SyncPlan &plan, const ExprPool &exprs,
                            ExprId expr, InstrId consumer) {
  const Expr &node = exprs[expr];
  StmtId block = kernel.instrs[consumer].block;
  if (known[expr.value].block == block) {
    return known[expr.value].anchor;
  }
  Anchor anchor = isLeaf(node.op) ? anchorOfLeaf(kernel, plan, node, consumer)
                                  : later(anchorOf(kernel, plan, exprs, ExprId(node.a), consumer),
                                          anchorOf(kernel, plan, exprs, ExprId(node.b), consumer));
  known[expr.value].block = block;
  known[expr.value].anchor = anchor;
  return anchor;
}

} // namespace tally::lowering
