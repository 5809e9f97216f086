//===- AdviseTest.cpp - What is told was tried, and is so -----------------===//

#include "tally/Advise/Advise.h"

#include "Rings.h"

#include "tally/Compile/Prepare.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

using namespace tally;

namespace {

Machine trn2() {
  return *loadMachine(fmt::format("{}/trn2.json", MACHINES_DIRECTORY)).machine;
}

AdviseOptions usual() {
  AdviseOptions options;
  options.bindings = [](const Kernel &kernel) { return Bindings(kernel); };
  return options;
}

/// Found by the usual way from kernel to run.
Tick timeOf(const Kernel &kernel, double growth, const Machine &machine) {
  Diagnostics diagnostics;
  std::vector<std::string> missing;
  Extractor extractor;
  Timing timing = *Timing::of(machine, missing);
  Request request{.codeGrowth = growth};
  Kernel found = findAsked(kernel, request, machine, extractor, diagnostics);
  std::optional<Compiled> compiled = compile(found, request, machine, diagnostics);
  EXPECT_TRUE(compiled) << diagnostics.reason();
  InstrCosts costs = *instructionCosts(found, timing, diagnostics);
  return simulate(found, compiled->code, machine, timing, costs, Bindings(found)).total;
}

/// The kernel that comes back takes as long as the last step says, and each change as it says.
TEST(AdviseTest, timesAreThoseOfTheChangedKernels) {
  const Machine machine = trn2();
  size_t numHelped = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const Kernel kernel = RingDrawer(seed).draw();
    Diagnostics diagnostics;
    std::optional<Advice> advice = advise(kernel, machine, usual(), diagnostics);
    ASSERT_TRUE(advice) << seed << ": " << diagnostics.reason();
    EXPECT_EQ(advice->total, timeOf(kernel, 1, machine)) << seed;
    for (const Tried &tried : advice->single) {
      bool grows = tried.change.kind == Change::Kind::Grow;
      Kernel changed = grows ? kernel : *withChange(kernel, tried.change, machine);
      EXPECT_EQ(tried.total, timeOf(changed, tried.change.growth, machine)) << seed << tried.text;
      EXPECT_LT(tried.total, advice->total);
      EXPECT_EQ(tried.race, Verdict::Yes) << seed << tried.text;
    }
    numHelped += !advice->steps.empty();
    Tick last = advice->steps.empty() ? advice->total : advice->steps.back().total;
    EXPECT_EQ(last, timeOf(advice->changed, advice->growth, machine)) << seed;
  }
  EXPECT_GT(numHelped, 20U);
}

/// The same input gets the same advice, and less work fewer trials.
TEST(AdviseTest, workIsCounted) {
  const Machine machine = trn2();
  const Kernel kernel = RingDrawer(3).draw();
  Diagnostics diagnostics;
  std::optional<Advice> once = advise(kernel, machine, usual(), diagnostics);
  std::optional<Advice> again = advise(kernel, machine, usual(), diagnostics);
  ASSERT_TRUE(once && again);
  EXPECT_EQ(once->numTried, again->numTried);
  EXPECT_EQ(once->numLeft, 0U);
}

} // namespace
