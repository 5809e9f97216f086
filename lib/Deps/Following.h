//===- Following.h - What follows from other dependences ------------------===//

#ifndef TALLY_LIB_DEPS_FOLLOWING_H
#define TALLY_LIB_DEPS_FOLLOWING_H

#include "tally/Deps/Extract.h"

namespace tally::deps {

/// Shows as many as possible of those that are only asked about (by index) to follow from the
/// others, and writes down why. What was shown may serve in a later chain, so they are gone through
/// until nothing changes; true for those that are left.
std::vector<bool> markFollowing(const Kernel &kernel, Extraction &all,
                                const std::vector<bool> &isAsked);

} // namespace tally::deps

#endif // TALLY_LIB_DEPS_FOLLOWING_H
