//===- KernelCampaign.h - Random cases through everything -----------------===//
//
// Draws one case for each seed (Case.h: a kernel, a machine, options), examines it (Examiner.h),
// and counts which features of mixed cases met (Features.h). A failure is shrunk to the plainest
// case in which the same strategy fails the same way.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_FUZZ_KERNELCAMPAIGN_H
#define TALLY_FUZZ_KERNELCAMPAIGN_H

#include "Examiner.h"
#include "Workers.h"

namespace tally::fuzz {

/// The case of a seed: plainCase() or mixedCase().
using DrawCase = Case (*)(uint64_t seed);

/// A failure, and the plainest case that shows it.
struct Finding {
  uint64_t seed = 0;
  Failure failure; ///< of the shrunk case
  Case drawn;
};

struct KernelReport {
  uint64_t firstSeed = 0;
  KernelCounts counts;
  PairTable pairs; ///< of mixed cases: what met in programs that were judged
  std::vector<Finding> findings;
};

/// `extent.count` cases, one for each seed; stops after `maxFindings`.
KernelReport fuzzKernels(const Extent &extent, DrawCase draw = plainCase, size_t maxFindings = 5,
                         const Sabotage &sabotage = {});

/// Mixed cases, until all pairs have met that can, but not for less than the extent; of minutes, at
/// most twenty times as many.
KernelReport fuzzUntilAllMet(Extent extent);

/// How many of what; nothing about findings and pairs.
std::string toText(const KernelReport &report);

/// `tally-fuzz --seed=N --count=1`
std::string replayCommand(const Finding &finding);

} // namespace tally::fuzz

#endif // TALLY_FUZZ_KERNELCAMPAIGN_H
