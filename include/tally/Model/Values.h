//===- Values.h - Numbers that are the same throughout a run --------------===//
//
// A kernel has a value for each `$n` that is declared, or that formulas of its loops or conditions
// name. Its bounds are all of those that stand at its declaration and at loops with `trips = "$n"`.
// How often any other formula lets its loop run follows from the bounds of what it names.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_MODEL_VALUES_H
#define TALLY_MODEL_VALUES_H

#include "tally/Model/Kernel.h"

namespace tally {

/// Fills in the values of a kernel whose tiles are not read yet.
void findValues(Kernel &kernel);

/// Fills in the bounds of the trips of its loops, from those of its values.
void boundFormulas(Kernel &kernel);

} // namespace tally

#endif // TALLY_MODEL_VALUES_H
