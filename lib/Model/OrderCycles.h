//===- OrderCycles.h - Dependences that wait for one another --------------===//
#ifndef TALLY_LIB_MODEL_ORDERCYCLES_H
#define TALLY_LIB_MODEL_ORDERCYCLES_H

#include "tally/Model/Kernel.h"

namespace tally::model {

/// Reports, for each set of instructions of one block that `deps` (distance 0, both ends in the
/// block, none against the order of its own engine) and the order of the engines make wait for
/// one another, one shortest cycle. Linear in instructions and dependences.
void reportOrderCycles(const Kernel &kernel, const std::vector<DepId> &deps,
                       Diagnostics &diagnostics);

} // namespace tally::model

#endif // TALLY_LIB_MODEL_ORDERCYCLES_H
