//===- Linear.cpp - Expressions that a loop steps by a constant -----------===//

#include "Linear.h"

namespace tally {

/// factor * total(loop).
static std::optional<Linear> productForm(const ExprPool &exprs, ExprId expr) {
  const Expr &node = exprs[expr];
  if (node.op != ExprOp::Mul) {
    return std::nullopt;
  }
  const Expr &a = exprs[ExprId(node.a)];
  const Expr &b = exprs[ExprId(node.b)];
  if (a.op == ExprOp::Const && b.op == ExprOp::Total) {
    return Linear{LoopId(b.a), a.a, 0};
  }
  if (b.op == ExprOp::Const && a.op == ExprOp::Total) {
    return Linear{LoopId(a.a), b.a, 0};
  }
  return std::nullopt;
}

std::optional<Linear> linearForm(const ExprPool &exprs, ExprId expr) {
  const Expr &node = exprs[expr];
  if (node.op != ExprOp::Sub || !exprs.isConstant(ExprId(node.b))) {
    return std::nullopt;
  }
  std::optional<Linear> form = productForm(exprs, ExprId(node.a));
  if (!form || exprs[ExprId(node.b)].a > form->factor) {
    return std::nullopt;
  }
  form->minus = exprs[ExprId(node.b)].a;
  return form;
}

} // namespace tally
