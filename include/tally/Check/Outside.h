//===- Outside.h - Tiles beyond their buffers, in one run -----------------===//
#ifndef TALLY_CHECK_OUTSIDE_H
#define TALLY_CHECK_OUTSIDE_H

#include "tally/Model/Bindings.h"
#include "tally/Model/Outside.h"
#include "tally/Support/Stop.h"

#include <optional>
#include <span>

namespace tally {

struct OutsideSearch {
  /// The first run, engine by engine, in which one of the accesses leaves its buffer. What depends
  /// on a run-time value is not looked at.
  std::optional<OutsideRun> found;
  bool isComplete = true; ///< all runs were looked at, up to the one found
};

/// Looks at these accesses of a kernel that check() accepts, on its way through at most this many
/// runs of bodies and instructions.
OutsideSearch findOutside(const Kernel &kernel, const Bindings &bindings,
                          std::span<const AccessId> watched, Fuel fuel = 1'000'000'000);

} // namespace tally

#endif // TALLY_CHECK_OUTSIDE_H
