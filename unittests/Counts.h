//===- Counts.h - How much a random test looks at -------------------------===//
#ifndef TALLY_UNITTESTS_COUNTS_H
#define TALLY_UNITTESTS_COUNTS_H

#include <cstdint>
#include <cstdlib>
#include <string>

namespace tally::test {

/// `few` kernels, and in a long run (TALLY_LONG=1, as `./do test --long` sets it) `many`, from the
/// same seeds.
inline uint64_t numKernels(uint64_t few, uint64_t many) {
  return std::getenv("TALLY_LONG") ? many : few;
}

/// ... or as many as the environment's `variable` says.
inline uint64_t numKernels(const char *variable, uint64_t few, uint64_t many) {
  const char *text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : numKernels(few, many);
}

struct Seeds {
  uint64_t first;
  uint64_t last;
};

/// The seeds from 1 on of a test on random kernels of some kind: TALLY_<kind>_KERNELS=100000 makes
/// a long run of it, TALLY_<kind>_SEED=81 looks at one kernel.
inline Seeds seeds(const std::string &kind, uint64_t few, uint64_t many) {
  if (const char *one = std::getenv(("TALLY_" + kind + "_SEED").c_str())) {
    uint64_t seed = std::strtoull(one, nullptr, 10);
    return {seed, seed};
  }
  return {1, numKernels(("TALLY_" + kind + "_KERNELS").c_str(), few, many)};
}

} // namespace tally::test

#endif // TALLY_UNITTESTS_COUNTS_H
