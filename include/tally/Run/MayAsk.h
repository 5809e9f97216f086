//===- MayAsk.h - Whether a dependence asks for anything in some run --------===//
//
// A consumer is owed a run of its producer (Owed.h) where loops run more often than the distance
// says. Perhaps they never do:
//
//   'p' -> 'c' at 'i' = 5                  i trips "n" max 5
//   'p' -> 'c' at 'i' = 1, 'j' = 1         i trips 2 { j trips = "1 - i" }
//
// Where loops have formulas, the nests of the two are walked for all values, which is exact; if
// that takes too long, the bounds of each loop by itself decide.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_RUN_MAYASK_H
#define TALLY_RUN_MAYASK_H

#include "tally/Model/Kernel.h"

namespace tally {

/// False only if no run of the kernel brings the dependence to bear.
bool mayAsk(const Kernel &kernel, DepId dep);

} // namespace tally

#endif // TALLY_RUN_MAYASK_H
