//===- Legalize.cpp - Wait expressions as a machine can compute them ------===//

#include "Legalize.h"

#include "tally/Lower/Lower.h"

namespace tally {
namespace lowering {

static bool needsGuard(const Machine &machine) {
  return machine.subtraction == Subtraction::Wraps && machine.waitCompare == WaitCompare::Unsigned;
}

LegalExprs::LegalExprs(const SyncPlan &plan, const Machine &machine)
    : plan(plan), guard(needsGuard(machine)), copy(plan.decisions.fold) {
  if (!guard) {
    return;
  }
  copy.reserve(plan.exprs.size());
  made.reserve(plan.exprs.size());
  // Operands were made before what uses them.
  for (uint32_t id = 0; id < plan.exprs.size(); ++id) {
    made.push_back(rebuild(plan.exprs[ExprId(id)]));
  }
}

ExprId LegalExprs::rebuild(const Expr &node) {
  if (isLeaf(node.op)) {
    return copy.leaf(node);
  }
  ExprId a = made[node.a];
  ExprId b = made[node.b];
  if (node.op != ExprOp::Monus) {
    return copy.make(node.op, a, b);
  }
  if (plan.decisions.strategy == Strategy::Auto) {
    return copy.make(ExprOp::Sub, a, copy.make(ExprOp::Min, a, b));
  }
  ExprId difference = copy.make(ExprOp::Sub, a, b);
  return copy.make(ExprOp::Mul, copy.make(ExprOp::IsGT, a, b), difference);
}

/// An operand used twice is computed once: a guard adds a comparison and a product, or a minimum.
static uint32_t costOf(const SyncPlan &plan, const Machine &machine, ExprId expr) {
  const Expr &node = plan.exprs[expr];
  if (isLeaf(node.op)) {
    return 0;
  }
  uint32_t guard = plan.decisions.strategy == Strategy::Auto ? 1 : 2;
  uint32_t own = node.op == ExprOp::Monus && needsGuard(machine) ? 1 + guard : 1;
  return own + costOf(plan, machine, ExprId(node.a)) + costOf(plan, machine, ExprId(node.b));
}

} // namespace lowering

uint32_t waitCost(const SyncPlan &plan, const Machine &machine, DepId dep) {
  ExprId threshold = plan.waits[dep].threshold;
  return threshold.valid() ? lowering::costOf(plan, machine, threshold) : 0;
}

} // namespace tally
