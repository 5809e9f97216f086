//===- Regions.h - Parts of a kernel that are synchronised in their own way ===//
//
// A loop or an `if` may say how it, with all inside, is synchronised; what lies deeper may say
// otherwise again. A loop may also say how many of its iterations code writes out for each
// branch back, the rest in a loop of its own. Neither changes what a dependence means.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_MODEL_REGIONS_H
#define TALLY_MODEL_REGIONS_H

#include "tally/Model/Kernel.h"

namespace tally {

/// How each body is synchronised: as the innermost body around it, or it itself, says.
IdVector<LoopId, RegionSync> regionSyncs(const Kernel &kernel);

bool hasRegions(const Kernel &kernel);

/// How many iterations of a loop code writes out for each branch back: never more than it has.
uint64_t iterationsWrittenOut(const Loop &loop);

/// Errors for loops that cannot be written out as they say.
void checkUnrolling(const Loop &loop, std::string_view name, Diagnostics &diagnostics);

} // namespace tally

#endif // TALLY_MODEL_REGIONS_H
