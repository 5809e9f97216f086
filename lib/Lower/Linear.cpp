//===- Linear.cpp - Expressions that a loop steps by a constant -----------===//

#include "Linear.h"

namespace tally::lowering {

/// total(loop) or factor * total(loop).
static std::optional<Linear> productForm(const ExprPool &exprs, const Expr &node) {
  if (node.op == ExprOp::Total) {
    return Linear{LoopId(node.a)};
  }
  if (node.op != ExprOp::Mul) {
    return std::nullopt;
  }
  Expr factor = exprs[ExprId(node.a)];
  Expr total = exprs[ExprId(node.b)];
  if (factor.op == ExprOp::Total) {
    std::swap(factor, total);
  }
  bool fits = factor.op == ExprOp::Const && total.op == ExprOp::Total;
  return fits ? std::optional(Linear{LoopId(total.a), factor.a, 0, 1}) : std::nullopt;
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

} // namespace tally::lowering
