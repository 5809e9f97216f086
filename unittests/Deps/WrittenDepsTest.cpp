//===- WrittenDepsTest.cpp - What written dependences imply ---------------===//
//
// A kernel writes its dependences in any order; what follows from the others is the same in each.
//
//   order    as many are implied, whichever way they are listed
//   steps    each step names a dependence that it is about
//===----------------------------------------------------------------------===//

#include "oracle/Campaign.h"

#include "tally/Deps/NoWait.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <utility>

using namespace tally;
using namespace tally::oracle;

namespace {

size_t numImplied(const Extraction &written) {
  return static_cast<size_t>(std::ranges::count_if(written.deps, &DerivedDep::isImplied));
}

/// The steps by which others imply a dependence: a wait is that of the instruction they name.
void expectStepsOf(const Kernel &kernel, const Extraction &written, const DerivedDep &derived) {
  for (const DerivationStep &step :
       std::span(written.steps).subspan(derived.firstStep, derived.numSteps)) {
    if (step.kind == DerivationStep::Kind::Wait) {
      ASSERT_LT(step.dep, kernel.deps.size());
      EXPECT_EQ(kernel.deps[DepId(step.dep)].consumer, step.later);
    }
  }
}

TEST(WrittenDepsTest, inAnyOrder) {
  size_t implied = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    RandomCodeCase drawn(seed, optionsForSeed(seed));
    const Extraction written = writtenDeps(drawn.kernel);
    Kernel backwards = drawn.kernel;
    std::ranges::stable_sort(backwards.deps.raw(), std::greater(), [](const Dep &dep) {
      return std::pair(dep.consumer, dep.producer); // those of one pair stay in their order
    });
    EXPECT_EQ(numImplied(writtenDeps(backwards)), numImplied(written)) << "seed " << seed;
    for (DepId dep : drawn.kernel.deps.ids()) {
      EXPECT_EQ(written.deps[dep.value].dep.consumer, drawn.kernel.deps[dep].consumer);
      expectStepsOf(drawn.kernel, written, written.deps[dep.value]);
    }
    implied += numImplied(written);
  }
  EXPECT_GE(implied, 500u);
}

} // namespace
