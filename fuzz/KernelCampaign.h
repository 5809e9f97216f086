//===- KernelCampaign.h - Random kernels through everything ---------------===//
//
// Draws one legal kernel for each seed, compiles it under every strategy, and asks all that can
// be asked about the result:
//
//   plan       verifyPlan(); every threshold against the definition (PlanComparison.h)
//   code       verifyProgram(); the order of its waits against the definition (Order.h): exact
//              where the plan says so, never too early elsewhere
//   each other per-loop and per-instruction have the same order, whatever the distances; unrolled
//              is exact where all trips are constant
//   race       the race check on a few schedules says nothing of races and deadlocks
//   explorer   if the run is small, all its interleavings
//
// A failure is shrunk to the plainest settings and the smallest kernel with which the same strategy
// fails the same way.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_FUZZ_KERNELCAMPAIGN_H
#define TALLY_FUZZ_KERNELCAMPAIGN_H

#include "RandomKernel.h"
#include "Workers.h"

#include "tally/Code/Program.h"
#include "tally/Sync/Plan.h"

#include <functional>
#include <optional>
#include <string>

namespace tally::fuzz {

/// How code is made, and on what it runs.
struct Settings {
  bool fold = true;
  bool licm = true;
  bool cse = true;
  bool wraps = false;         ///< subtraction does not stop at zero
  bool signedWaits = false;   ///< waits compare signed numbers
  bool shortCounters = false; ///< of 16 bits

  Machine machine() const;
};

/// What campaigns use for the kernel of this seed.
Settings settingsOfSeed(uint64_t seed);

/// How one program fails.
struct Failure {
  Strategy strategy = Strategy::PerLoop;
  std::string what;    ///< begins with the check that says so
  std::string choices; ///< trips and guards as options; empty if it fails without any
};

/// A failure, and the smallest kernel that shows it.
struct Finding {
  uint64_t seed = 0;
  Failure failure; ///< of the shrunk kernel
  Kernel kernel;
  Settings settings; ///< as plain as they can be for it
};

/// What was looked at.
struct KernelCounts {
  uint64_t kernels = 0;
  uint64_t programs = 0;
  uint64_t refused = 0;   ///< strategies that do not do this kernel
  uint64_t runs = 0;      ///< programs with trips bound
  uint64_t exact = 0;     ///< runs that wait for just what is asked for
  uint64_t safe = 0;      ///< ... for more, as the plan said
  uint64_t open = 0;      ///< runs of which one schedule does not tell the order
  uint64_t raced = 0;     ///< runs given to the race check, which found nothing
  uint64_t explored = 0;  ///< runs of which the explorer has seen all interleavings
  uint64_t undecided = 0; ///< ... or has reached its limit

  bool operator==(const KernelCounts &) const = default;
};

struct KernelReport {
  uint64_t firstSeed = 0;
  KernelCounts counts;
  std::vector<Finding> findings;
};

/// The kernel that a seed stands for.
Kernel kernelOfSeed(uint64_t seed);

/// A change to code that was right, to see whether a campaign would notice.
using Sabotage = std::function<void(Program &)>;

/// Counters never count, so that waits in loops ask for too little.
void loseCounts(Program &program);

/// What is wrong with a legal kernel's programs; `seed` picks trips. A function of its arguments
/// alone. `counts` is added to, if given.
std::optional<Failure> examine(const Kernel &kernel, uint64_t seed, const Settings &settings,
                               const Sabotage &sabotage = {}, KernelCounts *counts = nullptr);

/// `extent.count` kernels, one for each seed; stops after `maxFindings`.
KernelReport fuzzKernels(const Extent &extent, size_t maxFindings = 5,
                         const Sabotage &sabotage = {});

/// How many of what; nothing about findings.
std::string toText(const KernelReport &report);

/// `tally fuzz --seed=N --count=1`
std::string replayCommand(uint64_t seed);

} // namespace tally::fuzz

#endif // TALLY_FUZZ_KERNELCAMPAIGN_H
