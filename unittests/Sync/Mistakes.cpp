//===- Mistakes.cpp - Mistakes in plans, and whether they are noticed -----===//

#include "Mistakes.h"

#include "oracle/PlanComparison.h"

#include <gtest/gtest.h>

namespace tally::oracle {
namespace {

constexpr uint64_t numPrograms = 6000;
constexpr uint32_t enough = 100; ///< reports of one kind of mistake

bool isFormula(const SyncPlan &plan, DepId dep) {
  switch (plan.waits[dep].waitClass) {
  case WaitClass::InShared:
  case WaitClass::Nested:
  case WaitClass::SameBranch:
  case WaitClass::Ring:
    return plan.waits[dep].group.valid() && !plan.waits[dep].innerLoop.valid();
  default:
    return false;
  }
}

/// Rebuilds an expression with each node replaced by what `change` makes of it.
ExprId rewrite(ExprPool &pool, ExprId id, const std::function<ExprId(Expr)> &change) {
  Expr expr = pool[id];
  if (!isLeaf(expr.op)) {
    expr.a = rewrite(pool, ExprId(expr.a), change).value;
    expr.b = rewrite(pool, ExprId(expr.b), change).value;
  }
  return change(expr);
}

ExprId rebuild(ExprPool &pool, const Expr &expr) {
  switch (expr.op) {
  case ExprOp::Const:
    return pool.constant(expr.a);
  case ExprOp::Total:
    return pool.total(LoopId(expr.a));
  case ExprOp::Trip:
    return pool.trip(LoopId(expr.a));
  case ExprOp::Snapshot:
    return pool.snapshot(RingId(expr.a), expr.b);
  case ExprOp::Rounds:
    return pool.rounds(RoundsId(expr.a));
  case ExprOp::Ordinal:
    return pool.ordinal(InstrId(expr.a));
  default:
    return pool.make(expr.op, ExprId(expr.a), ExprId(expr.b));
  }
}

SyncPlan planOf(const Kernel &kernel, const PlanDecisions &options) {
  Diagnostics diagnostics;
  SyncPlan plan = makePlan(kernel, options, diagnostics);
  EXPECT_FALSE(diagnostics.hasErrors()) << render(diagnostics, {});
  return plan;
}

void tryMistake(const RandomCodeCase &code, const SyncPlan &plan, const Mistake &mistake,
                Score &score) {
  for (DepId dep : code.kernel.deps.ids()) {
    SyncPlan copy = plan;
    if (mistake(code.kernel, copy, dep)) {
      ++score.changed;
      score.reported += comparePlan(code.kernel, copy, code.bindings, code.definitions).has_value();
    }
  }
}

} // namespace

Mistake inParts(const PartMistake &change) {
  return [change](const Kernel &kernel, SyncPlan &plan, DepId dep) {
    if (!isFormula(plan, dep)) {
      return false;
    }
    Formula formula(kernel, plan, dep);
    if (!change(formula)) {
      return false;
    }
    formula.write();
    return true;
  };
}

Mistake inNodes(std::function<ExprId(const Kernel &, SyncPlan &, const Expr &)> change) {
  return [change](const Kernel &kernel, SyncPlan &plan, DepId dep) {
    Wait &wait = plan.waits[dep];
    if (!wait.group.valid()) {
      return false;
    }
    ExprId before = wait.threshold;
    wait.threshold = rewrite(plan.exprs, before, [&](Expr expr) {
      ExprId changed = change(kernel, plan, expr);
      return changed.valid() ? changed : rebuild(plan.exprs, expr);
    });
    return wait.threshold != before;
  };
}

OptionsOf planned(Strategy strategy) {
  return [strategy](const RandomCodeCase &) {
    PlanDecisions options;
    options.strategy = strategy;
    return options;
  };
}

Score scoreOf(const OptionsOf &options, const Mistake &mistake) {
  Score score;
  for (uint64_t seed = 0; seed < numPrograms && score.reported < enough; ++seed) {
    RandomCodeCase code(seed, {});
    tryMistake(code, planOf(code.kernel, options(code)), mistake, score);
  }
  return score;
}

void expectCaught(const OptionsOf &options, const Mistake &mistake) {
  Score score = scoreOf(options, mistake);
  EXPECT_GE(score.changed, 20u) << "the mistake was hardly ever made";
  EXPECT_GE(score.reported * 20, score.changed) << score.reported << " of " << score.changed;
  EXPECT_GE(score.reported, 5u) << score.reported << " of " << score.changed;
}

} // namespace tally::oracle
