//===- Linear.cpp - Expressions that a loop steps by a constant -----------===//

#include "Linear.h"

namespace tally {

/// total(loop) or factor * total(loop).
static std::optional<Linear> productForm(const ExprPool &exprs, const Expr &node) {
  if (node.op == ExprOp::Total) {
    return Linear{LoopId(node.a)};
  }
  if (node.op != ExprOp::Mul) {
    return std::nullopt;
  }
  const Expr &a = exprs[ExprId(node.a)];
  const Expr &b = exprs[ExprId(node.b)];
  if (a.op == ExprOp::Const && b.op == ExprOp::Total) {
    return Linear{LoopId(b.a), a.a, 0, 1};
  }
  if (b.op == ExprOp::Const && a.op == ExprOp::Total) {
    return Linear{LoopId(a.a), b.a, 0, 1};
  }
  return std::nullopt;
}

std::optional<Linear> linearForm(const ExprPool &exprs, ExprId expr) {
  const Expr &node = exprs[expr];
  bool subtracts = node.op == ExprOp::Sub && exprs.isConstant(ExprId(node.b));
  std::optional<Linear> form = productForm(exprs, subtracts ? exprs[ExprId(node.a)] : node);
  if (form && subtracts) {
    form->minus = exprs[ExprId(node.b)].a;
    ++form->numOps;
  }
  return form && form->numOps > 0 && form->minus <= form->factor ? form : std::nullopt;
}

} // namespace tally
