//===- Mistakes.h - Mistakes in plans, and whether they are noticed -------===//
//
// A mistake changes one wait after the other where it applies, each in a fresh copy
// of the plan. Some changes are harmless in some programs (a mask where no trip is
// short enough to need it), so what is asserted is that the kind is caught, not each case.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_UNITTESTS_SYNC_MISTAKES_H
#define TALLY_UNITTESTS_SYNC_MISTAKES_H

#include "oracle/Campaign.h"

#include "tally/Model/Place.h"

#include <functional>

namespace tally::oracle {

/// The parts of the threshold mask * w*(N*x - (N-K)) of one wait, free to be changed.
class Formula {
public:
  Formula(const Kernel &kernel, SyncPlan &plan, DepId dep)
      : kernel(kernel), plan(plan), dep(dep), place(placeOf(kernel, kernel.deps[dep])) {
    const Wait &wait = plan.waits[dep];
    InstrId producer = kernel.deps[dep].producer;
    weight = kernel.queues[kernel.instrs[producer].queue].weight;
    signals = plan.groups[wait.group].numSignals;
    behind = signals - plan.placeOf[producer];
    ExprId counter = wait.ring.valid() ? pool().snapshot(wait.ring, wait.slot)
                                       : pool().total(place.producerHome);
    count = less(counter, wait.minus);
    maskLoop = wait.maskLoop;
    maskOffset = wait.maskOffset;
  }

  const Kernel &kernel;
  SyncPlan &plan;
  DepId dep;
  DepPlace place;
  uint32_t weight;
  uint32_t signals; ///< N
  uint32_t behind;  ///< N - K
  ExprId count;     ///< x
  LoopId maskLoop;
  uint32_t maskOffset;

  WaitClass waitClass() const { return plan.waits[dep].waitClass; }

  ExprPool &pool() { return plan.exprs; }

  ExprId number(uint64_t n) { return pool().constant(static_cast<uint32_t>(n)); }

  ExprId more(ExprId x, uint64_t n) { return pool().make(ExprOp::Add, x, number(n)); }

  ExprId less(ExprId x, uint64_t n) { return pool().make(ExprOp::Monus, x, number(n)); }

  /// Writes the changed parts back as the threshold of the wait.
  void write() {
    ExprId value = pool().make(ExprOp::Mul, number(signals), count);
    value = pool().make(ExprOp::Mul, number(weight), less(value, behind));
    if (maskLoop.valid()) {
      ExprId mask = pool().make(ExprOp::IsGT, pool().trip(maskLoop), number(maskOffset));
      value = pool().make(ExprOp::Mul, mask, value);
    }
    plan.waits[dep].threshold = value;
  }
};

/// Changes the wait of `dep`; false if the mistake cannot be made there.
using Mistake = std::function<bool(const Kernel &kernel, SyncPlan &plan, DepId dep)>;

/// A mistake in one of the parts of a formula.
using PartMistake = std::function<bool(Formula &formula)>;

/// A mistake in the parts of the formulas that have these: in-shared, nested, same-branch, ring.
Mistake inParts(const PartMistake &change);

/// A mistake in every node that `change` returns an expression for.
Mistake inNodes(std::function<ExprId(const Kernel &, SyncPlan &, const Expr &)> change);

/// How many changed plans the comparison reports, of how many.
struct Score {
  uint32_t changed = 0;
  uint32_t reported = 0;
};

/// Options under which a program is planned.
using OptionsOf = std::function<PlanDecisions(const RandomCodeCase &)>;

/// This strategy, and all else as it is by default.
OptionsOf planned(Strategy strategy);

/// Makes the mistake in one random program after the other, until it was reported often enough.
Score scoreOf(const OptionsOf &options, const Mistake &mistake);

/// Caught more than once, and in one case of twenty; many lie in loops that run too rarely to
/// matter.
void expectCaught(const OptionsOf &options, const Mistake &mistake);

inline Score scoreOf(Strategy strategy, const Mistake &mistake) {
  return scoreOf(planned(strategy), mistake);
}

inline void expectCaught(Strategy strategy, const Mistake &mistake) {
  expectCaught(planned(strategy), mistake);
}

} // namespace tally::oracle

#endif // TALLY_UNITTESTS_SYNC_MISTAKES_H
