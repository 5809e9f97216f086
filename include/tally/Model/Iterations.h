//===- Iterations.h - Where in its loops something happens ----------------===//
//
// Iterations count from 0 wherever one is shown, as they do in tiles: `X[A]` touches X[0] in the
// first iteration of A. All texts come from here, so that no two of them differ.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_MODEL_ITERATIONS_H
#define TALLY_MODEL_ITERATIONS_H

#include "tally/Model/Kernel.h"

#include <span>
#include <string>

namespace tally {

/// One of the loops around something, and the iteration it is in, from 0. A branch has iteration 0.
struct LoopIteration {
  LoopId loop;
  uint64_t iteration = 0;

  bool operator==(const LoopIteration &) const = default;
};

/// `A = 0, B = 2`, outermost first, branches left out; empty outside loops.
std::string iterationText(const Kernel &kernel, std::span<const LoopIteration> around);

} // namespace tally

#endif // TALLY_MODEL_ITERATIONS_H
