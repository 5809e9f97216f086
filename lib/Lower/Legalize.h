//===- Legalize.h - Wait expressions as a machine can compute them --------===//
#ifndef TALLY_LIB_LOWER_LEGALIZE_H
#define TALLY_LIB_LOWER_LEGALIZE_H

#include "tally/Sync/Plan.h"

namespace tally::lowering {

/// The plan's expressions with every subtraction such that the machine's own will do. Where that
/// wraps and waits compare unsigned, one that might go below zero is guarded,
///   a monus b  =  isGT(a, b) * (a - b), or for strategy 'auto', where every operation counts,
///   a monus b  =  a - min(a, b),
/// in a copy of the expressions; on other machines they are legal as they are.
class LegalExprs {
public:
  LegalExprs(const SyncPlan &plan, const Machine &machine);

  /// The legal form of an expression of the plan.
  ExprId legal(ExprId planned) const { return guard ? made[planned.value] : planned; }

  const ExprPool &pool() const { return guard ? copy : plan.exprs; }

private:
  ExprId rebuild(const Expr &node);

  const SyncPlan &plan;
  const bool guard;
  ExprPool copy;
  std::vector<ExprId> made; ///< by planned id
};

} // namespace tally::lowering

#endif // TALLY_LIB_LOWER_LEGALIZE_H
