//===- NestTest.cpp - The loops around one body, walked ---------------------===//

#include "tally/Model/Nest.h"

#include "tally/Model/KernelBuilder.h"

#include <gtest/gtest.h>

using namespace tally;

namespace {

using B = KernelBuilder;

/// Loops inside one another, `L0` the outermost; the innermost and its kernel.
struct Loops {
  B b{"k"};
  LoopId inner;
  Kernel kernel;

  explicit Loops(const std::vector<Trip (*)(B &)> &trips) {
    b.engine("e");
    for (size_t i = 0; i < trips.size(); ++i) {
      inner = b.beginLoop("L" + std::to_string(i), trips[i](b));
    }
    for (size_t i = 0; i < trips.size(); ++i) {
      b.endLoop();
    }
    kernel = b.finish();
  }

  std::optional<uint64_t> most() const { return mostEntries(kernel, inner); }
};

TEST(NestTest, mostEntriesOfTiedLoops) {
  auto upTo22 = [](B &b) { return b.formula("$n", 0, 22); };
  EXPECT_EQ(Loops({upTo22}).most(), 22u);
  EXPECT_EQ(Loops({upTo22, [](B &b) { return b.formula("L0 + 1"); }}).most(), 253u);
  EXPECT_EQ(Loops({upTo22, [](B &b) { return b.formula("$n - L0"); }}).most(), 253u);
  EXPECT_EQ(Loops({upTo22, [](B &b) { return b.formula("L0 - L0"); }}).most(), 0u);
  EXPECT_EQ(Loops({upTo22, [](B &b) { return b.formula("22 - $n"); }}).most(), 121u)
      << "the most is in the middle";
}

/// Iterations that no formula names are not walked.
TEST(NestTest, mostEntriesOfManyIterations) {
  auto million = [](B &) { return B::constant(1'000'000); };
  auto upTo3 = [](B &b) { return b.value("m", 0, 3); };
  auto grows = [](B &b) { return b.formula("L1 + 1"); };
  EXPECT_EQ(Loops({million, upTo3, grows, million}).most(), 6'000'000'000'000u);
  EXPECT_EQ(Loops({upTo3, upTo3}).most(), 9u);
}

TEST(NestTest, noMostWithoutBounds) {
  auto open = [](B &b) { return b.formula("$n"); };
  auto inner = [](B &b) { return b.formula("L0 + 1"); };
  EXPECT_EQ(Loops({open}).most(), std::nullopt);
  EXPECT_EQ(Loops({open, inner}).most(), std::nullopt);
  EXPECT_EQ(Loops({[](B &b) { return b.value("m"); }, inner}).most(), std::nullopt);
  EXPECT_EQ(Loops({[](B &b) { return b.guard("more"); }}).most(), std::nullopt);
  EXPECT_EQ(Loops({[](B &) { return B::constant(4'000'000); }, inner}).most(), std::nullopt)
      << "too many to be walked";
}

TEST(NestTest, theKernelItselfIsEnteredOnce) {
  EXPECT_EQ(mostEntries(Loops({}).kernel, rootLoop), 1u);
}

} // namespace
