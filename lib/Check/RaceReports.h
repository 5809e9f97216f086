//===- RaceReports.h - From findings to messages --------------------------===//

#ifndef TALLY_LIB_CHECK_RACEREPORTS_H
#define TALLY_LIB_CHECK_RACEREPORTS_H

#include "RaceRun.h"
#include "tally/Check/Race.h"

namespace tally::check {

/// The shortest part of the run that leads to both instructions being in flight, replayed; the
/// run up to the later one if that part does not replay by itself. `isShown` says which.
std::vector<Step> witnessOf(const RaceSubject &subject, const std::vector<Step> &steps,
                            const OrderFault &fault, bool &isShown);

/// Steps of a run that ends with both instructions in flight, or with the later one issued before
/// the one that it depends on has finished: what finishes either is held back, all else goes on.
/// Empty if queues are too short for that. For faults that some schedule shows.
std::vector<Step> holdBackBoth(const RaceSubject &subject, const OrderFault &fault);

RaceReport reportOf(const RaceSubject &subject, const OrderFault &fault);

/// Which instructions, and no more.
RaceReport briefReportOf(const RaceSubject &subject, const OrderFault &fault);

RaceReport reportOf(const RaceSubject &subject, const Unsettled &unsettled);
RaceReport reportOf(const RaceSubject &subject, const WaitExcess &excess, uint64_t passes);

RaceReport reportOf(const RaceSubject &subject, const OutsideRun &run);

/// For a run that ended with engines blocked: one for each cause.
std::vector<RaceReport> deadlocksOf(const RaceSubject &subject, const ImplState &state);

} // namespace tally::check

#endif // TALLY_LIB_CHECK_RACEREPORTS_H
