//===- Compiled.h - Random kernels and their code -------------------------===//
#ifndef TALLY_UNITTESTS_CERTIFY_COMPILED_H
#define TALLY_UNITTESTS_CERTIFY_COMPILED_H

#include "tally/Lower/Lower.h"

#include <optional>

namespace tally {

/// A kernel's code, and what it was made with.
struct CompiledKernel {
  SyncPlan plan;
  Machine machine;
  Code code;
};

/// The kernel of this seed. Of its regions those stay about which there is a theorem, and engines
/// disagree only where that is not refused.
Kernel coveredKernel(uint64_t seed);

/// Machines that differ in how they subtract, compare and how many registers they have.
Machine machineOfSeed(uint64_t seed);

/// Code for the machine of the seed. It also picks between plans with and without folding, code
/// with and without hoisting and sharing; under strategy auto, mixed groups, loop counters and
/// stepped thresholds.
std::optional<CompiledKernel> compileForSeed(const Kernel &kernel, Strategy strategy,
                                             uint64_t seed);

} // namespace tally

#endif // TALLY_UNITTESTS_CERTIFY_COMPILED_H
