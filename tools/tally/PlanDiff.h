//===- PlanDiff.h - How two plans differ, dependence by dependence --------===//
//
// Dependences belong together if they read the same: producer, consumer and distance by name. So
// two versions of a kernel can be compared, or one kernel under two strategies.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_TOOLS_TALLY_PLANDIFF_H
#define TALLY_TOOLS_TALLY_PLANDIFF_H

#include "Output.h"

#include "tally/Compile/Compile.h"

namespace tally::tool {

/// A kernel with what was made of it.
struct Planned {
  const Kernel &kernel;
  const Compiled &compiled;
};

/// The difference as it is in JSON, of which the text is another rendering; `machineReason`: why it
/// is this machine, if none was named.
Json planDiff(const Planned &first, const Planned &second, const Machine &machine,
              const std::string &machineReason = "");
std::string planDiffText(const Json &diff);

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_PLANDIFF_H
