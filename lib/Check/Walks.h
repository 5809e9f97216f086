//===- Walks.h - The two ways to walk all states --------------------------===//
#ifndef TALLY_LIB_CHECK_WALKS_H
#define TALLY_LIB_CHECK_WALKS_H

#include "tally/Check/Explore.h"

#include <set>

namespace tally::check {

/// What a walk found. Mismatches are not judged here.
struct WalkResult : WalkSummary {
  std::set<QueueId> full; ///< as in ExploreResult
  std::set<Mismatch> mismatches;
  std::optional<Mismatch> first; ///< that is not allowed
  std::vector<Step> wayToFirst;  ///< steps of the code that lead to a state with it
};

/// Whether a mismatch is to be forgiven: an instruction that may wait longer does, or counters are
/// reset.
inline bool isAllowed(const ExploreOptions &options, const Mismatch &mismatch) {
  if (mismatch.kind != MismatchKind::Late) {
    return false; // it may be about no instruction at all
  }
  bool mayOverwait =
      options.mayOverwait.size() != 0 && options.mayOverwait[mismatch.instance.instr];
  return mayOverwait || mismatch.atReset;
}

/// Which limit of a walk is reached, and the option that sets it; empty if none is.
std::string limitReached(const ExploreOptions &options, uint64_t states, uint64_t bytes);

/// Every state of both systems, one after the other. Stops at the first mismatch that is not
/// allowed, unless `findAll`.
WalkResult walkAll(const Lockstep &lockstep, const ExploreOptions &options);

/// The same answers from a few of the states; see Reduced.cpp.
WalkResult walkReduced(const Lockstep &lockstep, const ExploreOptions &options);

/// A shorter way to the same mismatch, from which no step can be left out; unless that takes too
/// long, or it is told to stop.
std::vector<Step> shorten(const Lockstep &lockstep, const Mismatch &mismatch,
                          std::vector<Step> schedule, const StopFlag *stop);

} // namespace tally::check

#endif // TALLY_LIB_CHECK_WALKS_H
