//===- RandomExtractTest.cpp - Random kernels against all conflicts -------===//

#include "HoldToConflicts.h"
#include "RandomAccesses.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

using namespace tally;
using namespace tally::test;

namespace {

/// TALLY_DEPS_KERNELS=100000 makes a long run of it.
uint64_t numKernels() {
  const char *wish = std::getenv("TALLY_DEPS_KERNELS");
  return wish ? std::strtoull(wish, nullptr, 10) : 10'000;
}

constexpr uint64_t numParts = 8;

/// One part of the kernels, so that the parts run side by side.
class RandomExtractTest : public testing::TestWithParam<uint64_t> {};

TEST_P(RandomExtractTest, isSoundCompleteAndExact) {
  Extractor extractor;
  Held held;
  size_t numUndecided = 0;
  size_t numTried = 0;
  for (uint64_t seed = 1 + GetParam(); seed <= numKernels(); seed += numParts) {
    ExtractOptions options{seed % 2 == 0};
    std::string failure = holdToConflicts(randomAccesses(seed), seed, options, extractor, held);
    EXPECT_TRUE(failure.empty()) << "seed " << seed << ": " << failure;
    ++numTried;
    if (extractor.numUndecided() != numUndecided) {
      numUndecided = extractor.numUndecided();
      fmt::print("seed {} has a question that is too hard\n", seed);
    }
  }
  fmt::print(
      "{} dependences ({} not exact, {} kept), {} conflicts, {} witnesses seen, {} undecided\n",
      held.deps, held.excess, held.kept, held.conflicts, held.witnessed, extractor.numUndecided());
  EXPECT_LE(10'000 * numUndecided, numTried) << "none in the ordinary run";
}

INSTANTIATE_TEST_SUITE_P(Part, RandomExtractTest, testing::Range<uint64_t>(0, numParts));

} // namespace
