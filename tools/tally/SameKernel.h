//===- SameKernel.h - Whether two files hold the same kernel --------------===//
//
// Code in a file of its own brings its kernel along. It is read by the numbers of that kernel and
// judged by another, so both have to say the same: all declarations and statements, in order.
// Places and dependences may differ: those that were found stand in the file of the code alone.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_TOOLS_TALLY_SAMEKERNEL_H
#define TALLY_TOOLS_TALLY_SAMEKERNEL_H

#include "tally/Model/Kernel.h"

#include <optional>

namespace tally::tool {

/// What a kernel says in one place, as in `'tally.engine "dma" weight 16'`.
struct Said {
  std::string text;
  Location where;
};

/// The first two that are not the same.
struct KernelDifference {
  Said first;
  Said second;
};

/// None, if both say the same.
std::optional<KernelDifference> differenceOf(const Kernel &first, const Kernel &second);

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_SAMEKERNEL_H
