//===- IdleGuards.h - Guards that always hold -------------------------------===//
//
//   load  writes X[A mod 4] if A >= 0        as if it were X[A mod 4]
//
// A guard that no run fails changes nothing. But most of what is known of tiles is known of those
// without guards; so such a guard is left out before anything is asked.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DEPS_IDLEGUARDS_H
#define TALLY_LIB_DEPS_IDLEGUARDS_H

#include "tally/Model/Kernel.h"

#include <optional>

namespace tally::deps {

/// The same kernel, with the same numbers for everything. None if it has no such guard.
std::optional<Kernel> withoutIdleGuards(const Kernel &kernel);

} // namespace tally::deps

#endif // TALLY_LIB_DEPS_IDLEGUARDS_H
