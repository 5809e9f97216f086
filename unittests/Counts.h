//===- Counts.h - How much a random test looks at -------------------------===//
#ifndef TALLY_UNITTESTS_COUNTS_H
#define TALLY_UNITTESTS_COUNTS_H

#include <cstdint>
#include <cstdlib>

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

} // namespace tally::test

#endif // TALLY_UNITTESTS_COUNTS_H
