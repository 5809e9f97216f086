//===- Causes.h - Several reports, one cause ------------------------------===//
//
// One wait that is missing shows as many races: with all that relies on it. This finds, for the
// reports of several runs of the same code, which have one cause, and a change of the code that
// mends it.
//
//   first    of the reports that are left, the one whose order, if it were kept, would bring about
//            the order of most others
//   mend     a change of the code with which the check no longer reports it, and reports nothing
//            that it did not report before, in any of the runs; found by trying (Mends.h)
//   folded   what is gone with the mend; without one, what would be ordered in every schedule if
//            the consumer of the first waited for its producer (MustOrder.h)
//
// Then the same for what is left, with the mend applied. So a report is folded only if it was seen
// to vanish, and with all mends applied nothing is left, if each cause has one.
//
// A counter that wraps around is a cause without a mend: what is gone with counters of 32 bits is
// folded into it.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_CHECK_CAUSES_H
#define TALLY_CHECK_CAUSES_H

#include "tally/Check/Race.h"

#include <span>

namespace tally {

struct CauseOptions {
  bool mends = true;       ///< look for changes of the code; not of compiled code
  RaceOptions race;        ///< as for the runs whose reports are given
  uint32_t maxTries = 100; ///< changes tried for one cause
  uint64_t maxSteps =
      3'000'000; ///< of all runs made to try changes; twice as many before one is given up
  uint32_t maxCandidates = 12; ///< reports of which the first is chosen
};

/// What was found, without what is written into the reports.
struct CausesFound {
  uint32_t numCauses = 0;
  bool allMended = false; ///< each cause has a mend
  Code mended;            ///< with all mends that were found
};

/// Writes into the reports of `results` which cause they have, and into the first of each cause the
/// mend. `choices[i]` are the trips of `results[i]`. Warnings of waits that are too long have none.
CausesFound findCauses(const Kernel &kernel, const Code &code, const Machine &machine,
                       std::span<const Bindings> choices, std::span<RaceResult> results,
                       const CauseOptions &options = {});

/// For the reports of one schedule: what `from`, a check of the same code and trips, says of them.
void takeCauses(const Kernel &kernel, const RaceResult &from, RaceResult &into);

} // namespace tally

#endif // TALLY_CHECK_CAUSES_H
