//===- HoldToConflicts.h - Extraction against all conflicts ---------------===//
//
// For several runs of a kernel (no trips, one, few, many; random branches), every conflict is
// enumerated, and
//
//   sound      whatever conflicts with a run is over when it starts
//   complete   what one access pair needs, its own dependence waits for, without help from
//              others, unless a run between the two passes it on
//   exact      a dependence that is called exact lets no run of the consumer wait for a run of the
//              producer that neither it nor an earlier one needs
//   witnessed  the example of each dependence is a conflict at its distance
//   implied    what a removed dependence waits for is over when the consumer starts, with those
//              that are kept; for each run from the first on that needs it
//   sound      with those that are kept alone, too
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_UNITTESTS_DEPS_HOLDTOCONFLICTS_H
#define TALLY_UNITTESTS_DEPS_HOLDTOCONFLICTS_H

#include "oracle/Enumerate.h"

#include "tally/Deps/Extract.h"

namespace tally::oracle {

/// What was looked at, in all.
struct Held {
  size_t deps = 0;
  size_t excess = 0;
  size_t kept = 0;
  size_t conflicts = 0;
  size_t witnessed = 0;
};

/// The first failure, with the kernel; empty if there is none. The seed is that of the runs.
std::string holdToConflicts(const Kernel &kernel, uint64_t seed, const ExtractOptions &options,
                            Extractor &extractor, Held &held);

/// A dependence of a kernel that waits in some of these runs, and that the others imply in all of
/// them; empty if there is none.
std::string idleDep(const Kernel &kernel, const std::vector<Enumeration> &runs, bool queueOverlap);

/// A run of a kernel with dependences that may start before a run that conflicts with it is over;
/// empty if there is none.
std::string missingWait(const Kernel &kernel, const Enumeration &runs, bool queueOverlap);

} // namespace tally::oracle

#endif // TALLY_UNITTESTS_DEPS_HOLDTOCONFLICTS_H
