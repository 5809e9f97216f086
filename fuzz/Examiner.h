//===- Examiner.h - One case through everything ---------------------------===//
//
// Compiles a case under every strategy, and asks all that can be asked about the result:
//
//   refused    of a plain case only for what the strategy is not made for; by auto never where a
//              strategy that counts, or barriers, can do it
//   plan       every threshold against the definition (PlanComparison.h)
//   code       verifyCode(); the order of its waits against the definition (Order.h): exact
//              where the plan says so, never too early elsewhere
//   each other per-loop and per-instruction have the same order, whatever the distances
//   race       the race check on a few schedules says nothing of races and deadlocks
//   explorer   if the run is small, all its interleavings
//   by hand    of a mixed case: the code of one strategy, written, read again and rearranged
//              (HandWritten.h), is as right as it was
//
// Code with `--overflow=assume` is held to the entries that its remarks promise, no further.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_FUZZ_EXAMINER_H
#define TALLY_FUZZ_EXAMINER_H

#include "Case.h"
#include "Features.h"

#include "tally/Check/Explore.h"
#include "tally/Code/Code.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tally::fuzz {

/// How one program fails.
struct Failure {
  Strategy strategy = Strategy::PerLoop; ///< Manual: of code that was written by hand ...
  Strategy origin = Strategy::PerLoop;   ///< ... from that of this one
  std::string what;                      ///< begins with the check that says so
  std::string choices; ///< trips and guards as options; empty if it fails without any
};

/// What was looked at.
struct KernelCounts {
  uint64_t kernels = 0;
  uint64_t programs = 0;
  uint64_t written = 0;   ///< ... of them by hand
  uint64_t refused = 0;   ///< strategies that do not do this kernel on this machine
  uint64_t runs = 0;      ///< programs with trips bound
  uint64_t exact = 0;     ///< runs that wait for just what is asked for
  uint64_t safe = 0;      ///< ... for more, as the plan said
  uint64_t open = 0;      ///< runs of which one schedule does not tell the order
  uint64_t beyond = 0;    ///< runs of which the code promises nothing: they count too far
  uint64_t raced = 0;     ///< runs given to the race check, which found nothing
  uint64_t explored = 0;  ///< runs of which the explorer has seen all interleavings
  uint64_t undecided = 0; ///< ... or has reached its limit

  void add(const KernelCounts &other);

  bool operator==(const KernelCounts &) const = default;
};

/// A change to code that was right, to see whether a campaign would notice.
using Sabotage = std::function<void(Code &)>;

/// Counters never count, so that waits in loops ask for too little.
void loseCounts(Code &code);

/// What came of one case.
struct Examined {
  std::optional<Failure> failure;
  KernelCounts counts;
  std::vector<FeatureSet> met; ///< in programs of mixed cases that were judged in some run
};

/// Whether a dependence is for as many runs as its own engine counts, whatever the producer's does.
bool anyCountedApart(const Kernel &kernel);

/// How the explorer is asked about code that was made by a plan.
ExploreOptions exploreOptionsFor(const Kernel &kernel, const SyncPlan &plan, uint64_t maxStates);

/// A function of its arguments alone; `seed` picks trips.
Examined examine(const Case &drawn, uint64_t seed, const Sabotage &sabotage = {});

} // namespace tally::fuzz

#endif // TALLY_FUZZ_EXAMINER_H
