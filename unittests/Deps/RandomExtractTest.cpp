//===- RandomExtractTest.cpp - Random kernels against all conflicts -------===//

#include "Counts.h"
#include "HoldToConflicts.h"
#include "RandomAccesses.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace tally;
using namespace tally::oracle;

namespace {

constexpr uint64_t numParts = 8;

/// One part of the kernels, so that the parts run side by side.
class RandomExtractTest : public testing::TestWithParam<uint64_t> {};

TEST_P(RandomExtractTest, isSoundCompleteAndExact) {
  Extractor extractor;
  Held held;
  size_t numUndecided = 0;
  size_t numTooHard = 0; ///< kernels; few enough to be named
  auto [first, last] = test::seeds("DEPS", 250, 10'000);
  for (uint64_t seed = first + GetParam(); seed <= last; seed += numParts) {
    ExtractOptions options{seed % 2 == 0};
    std::string failure = holdToConflicts(randomAccesses(seed), seed, options, extractor, held);
    EXPECT_TRUE(failure.empty()) << "seed " << seed << ": " << failure;
    if (extractor.numUndecided() != numUndecided) {
      numUndecided = extractor.numUndecided();
      ++numTooHard;
      fmt::print("seed {} has a question that is too hard\n", seed);
    }
  }
  fmt::print(
      "{} dependences ({} not exact, {} kept), {} conflicts, {} witnesses seen, {} undecided\n",
      held.deps, held.excess, held.kept, held.conflicts, held.witnessed, extractor.numUndecided());
  // 8 of the first 3,000, among them one of the first 250.
  EXPECT_LE((numTooHard - std::min<size_t>(numTooHard, 1)) * 90, (last - first) / numParts);
}

/// Where a kernel may ask fewer questions than it has, more is waited for, and no less.
TEST_P(RandomExtractTest, isSoundWithFewQuestions) {
  Held held;
  size_t numUndecided = 0;
  auto [first, last] = test::seeds("DEPS", 100, 4'000);
  for (uint64_t seed = first + GetParam(); seed <= last; seed += numParts) {
    Extractor extractor;
    ExtractOptions options{.queueOverlap = seed % 2 == 0, .mostQuestions = seed % 3};
    std::string failure = holdToConflicts(randomAccesses(seed), seed, options, extractor, held);
    EXPECT_TRUE(failure.empty()) << "seed " << seed << ": " << failure;
    numUndecided += extractor.numUndecided();
  }
  EXPECT_GT(numUndecided, 0u);
}

INSTANTIATE_TEST_SUITE_P(Part, RandomExtractTest, testing::Range<uint64_t>(0, numParts));

} // namespace
