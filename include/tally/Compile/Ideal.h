//===- Ideal.h - Code for a run whose synchronisation is free -------------===//
//
// The bound that every strategy can be measured by: each instruction is issued at the instant at
// which its dependences are satisfied and its engine has come that far. The loops and branches
// that an engine needs for its instructions, and the issuing itself, cost what they cost.
//
// It is the per-loop code, whose waits pass exactly when the dependences are satisfied,
// run with SimOptions::freeSync on a machine without limits. Where a dependence has no exact wait
// (docs/Allocation.md), the bound is one for this algorithm only; `overWaiting` counts them.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_COMPILE_IDEAL_H
#define TALLY_COMPILE_IDEAL_H

#include "tally/Code/Code.h"
#include "tally/Machine/Machine.h"

#include <optional>

namespace tally {

struct IdealCode {
  Code code;
  uint32_t overWaiting = 0; ///< dependences that wait longer than they ask
};

std::optional<IdealCode> idealCode(const Kernel &kernel, const Machine &machine,
                                   Diagnostics &diagnostics);

} // namespace tally

#endif // TALLY_COMPILE_IDEAL_H
