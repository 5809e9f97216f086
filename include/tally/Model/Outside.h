//===- Outside.h - A run that touches a tile beyond its buffer ------------===//
//
// What lies beyond a buffer belongs to others, and no dependence speaks of it: so each dimension of
// a tile has to stay within its buffer by itself, in every run that touches the tile.
//
//   X shape [2, 128]   X[0, 64:128] ends at 192: outside, although the next row is X's, too
//
// Bounds.h in Deps finds such runs among all runs of a kernel; Outside.h in Check looks at one.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_MODEL_OUTSIDE_H
#define TALLY_MODEL_OUTSIDE_H

#include "tally/Model/Iterations.h"

namespace tally {

struct OutsideRun {
  InstrId instr;
  AccessId access;
  uint32_t dim = 0;
  int64_t index = 0;                    ///< negative, or past the end of the dimension
  std::vector<LoopIteration> iteration; ///< of the loops around, outermost first
  std::string also; ///< what else says where the tile lies: "trips(A) = 3"; may be empty
};

/// `dimension 1 of 3 has 2 elements, and index 2 is reached at i = 2`
std::string reachText(const Kernel &kernel, const OutsideRun &run);

/// An error at the instruction, with the way out.
Diagnostic outsideError(const Kernel &kernel, const OutsideRun &run);

} // namespace tally

#endif // TALLY_MODEL_OUTSIDE_H
