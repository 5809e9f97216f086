//===- ThresholdCode.cpp - Where the value of an expression is computed ---===//

#include "ThresholdCode.h"

#include <algorithm>

namespace tally::lowering {

ThresholdCode::ThresholdCode(const EmitContext &context, const std::vector<InstrId> &consumers,
                             const CounterCode &counters, KnownExprs &known, ValueWriter &writer)
    : context(context), kernel(context.kernel), exprs(context.exprs.pool()), counters(counters),
      known(known), writer(writer) {
  if (context.decisions.licm) {
    findHoists(consumers);
  }
}

//===----------------------------------------------------------------------===//
// Where a value belongs
//===----------------------------------------------------------------------===//

/// Whether a loop around a consumer keeps `expr` ready for it.
bool ThresholdCode::isStepped(ExprId expr, InstrId consumer) {
  LoopId loop = known[expr].steppedBy;
  return loop.valid() && kernel.encloses(loop, kernel.instrs[consumer].home);
}

/// Where `expr` belongs, seen from a consumer.
Anchor ThresholdCode::anchorOf(ExprId expr, InstrId consumer) {
  return known.anchorOf(kernel, context.plan, exprs, expr, consumer);
}

/// Where `expr` is computed: where it belongs, or, unhoisted, in the consumer's own body.
Anchor ThresholdCode::computedAt(ExprId expr, InstrId consumer) {
  Anchor anchor = anchorOf(expr, consumer);
  uint32_t home = kernel.loops[kernel.instrs[consumer].home].depth;
  return context.decisions.licm || anchor.depth == home ? anchor : Anchor{home, 0};
}

void ThresholdCode::findHoists(const std::vector<InstrId> &consumers) {
  uint32_t use = 0;
  for (InstrId instr : consumers) {
    uint32_t home = kernel.loops[kernel.instrs[instr].home].depth;
    for (const KeptWait &w : context.waits.of(instr)) {
      hoist(context.exprs.legal(w.threshold), instr, home, use++);
    }
  }
  std::ranges::stable_sort(hoists, {}, &Hoist::before);
}

/// Records `expr`, and below it every subexpression, that belongs further out than what uses it:
/// a body at `depth`.
void ThresholdCode::hoist(ExprId expr, InstrId consumer, uint32_t depth, uint32_t use) {
  const Expr &node = exprs[expr];
  if (isLeaf(node.op) || isStepped(expr, consumer)) {
    return;
  }
  Anchor anchor = anchorOf(expr, consumer);
  hoist(ExprId(node.a), consumer, anchor.depth, use);
  hoist(ExprId(node.b), consumer, anchor.depth, use);
  if (anchor.depth < depth) {
    LoopId body = bodyAt(kernel, anchor.depth, kernel.instrs[consumer].home);
    hoists.push_back({kernel.stmtTowards(body, consumer), expr, consumer, use});
  }
}

//===----------------------------------------------------------------------===//
// Its operations
//===----------------------------------------------------------------------===//

void ThresholdCode::before(StmtId stmt) {
  for (const Hoist &hoist : std::ranges::equal_range(hoists, stmt, {}, &Hoist::before)) {
    valueFor(hoist.expr, {hoist.consumer, hoist.use, kernel.stmts[stmt].parent});
  }
}

Operand ThresholdCode::valueOf(ExprId expr, InstrId consumer, uint32_t use) {
  return valueFor(expr, {consumer, use, kernel.instrs[consumer].home});
}

Operand ThresholdCode::valueFor(ExprId expr, const Use &use) {
  const Expr &node = exprs[expr];
  if (isLeaf(node.op)) {
    return counters.operandOf(node);
  }
  if (isStepped(expr, use.consumer)) {
    return Operand::reg(known[expr].stepped);
  }
  Anchor anchor = computedAt(expr, use.consumer);
  if (!context.decisions.cse) {
    return unsharedValue(expr, use, anchor.depth);
  }
  LoopId body = bodyAt(kernel, anchor.depth, use.here);
  Known &entry = known[expr];
  bool isThere = entry.body == body && entry.epoch == anchor.epoch &&
                 kernel.encloses(entry.computedIn, use.here);
  if (!isThere) {
    entry.value = compute(node, use, anchor.depth);
    entry.body = body;
    entry.epoch = anchor.epoch;
    entry.computedIn = use.here;
  }
  return Operand::reg(entry.value);
}

/// Each wait for itself: it finds only what was hoisted for it.
Operand ThresholdCode::unsharedValue(ExprId expr, const Use &use, uint32_t depth) {
  auto [found, isNew] = unshared.try_emplace({expr, use.number});
  if (isNew) {
    found->second = compute(exprs[expr], use, depth);
  }
  return Operand::reg(found->second);
}

static AluOp aluOf(ExprOp op) {
  switch (op) {
  case ExprOp::Add:
    return AluOp::Add;
  case ExprOp::Mul:
    return AluOp::Mul;
  case ExprOp::Min:
    return AluOp::Min;
  case ExprOp::IsGT:
    return AluOp::IsGT;
  default:
    return AluOp::Sub;
  }
}

RegId ThresholdCode::compute(const Expr &node, const Use &use, uint32_t depth) {
  Operand a = valueFor(ExprId(node.a), use);
  Operand b = valueFor(ExprId(node.b), use);
  return writer.compute(aluOf(node.op), a, b, depth);
}

} // namespace tally::lowering
