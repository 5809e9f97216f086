//===- Linear.h - Expressions that a loop steps by a constant -------------===//
#ifndef TALLY_LIB_LOWER_LINEAR_H
#define TALLY_LIB_LOWER_LINEAR_H

#include "tally/Sync/Expr.h"

#include <optional>

namespace tally::lowering {

/// factor * total(loop) - minus
struct Linear {
  LoopId loop;
  uint32_t factor = 1;
  uint32_t minus = 0;
  uint32_t numOps = 0; ///< that computing it from the count takes: 1 or 2

  /// The value in the first entry of the loop.
  uint32_t first() const { return factor - minus; }
};

/// `expr` in that form, if computing it takes an operation, and its value in the first entry is
/// not below zero.
std::optional<Linear> linearForm(const ExprPool &exprs, ExprId expr);

} // namespace tally::lowering

#endif // TALLY_LIB_LOWER_LINEAR_H
