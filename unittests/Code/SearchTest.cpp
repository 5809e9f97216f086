//===- SearchTest.cpp - Is what 'auto' says of its search what it did? ----===//

#include "oracle/Campaign.h"

#include "tally/Code/ControlCost.h"
#include "tally/Compile/Compile.h"
#include "tally/Written/Text.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace tally;
using namespace tally::oracle;

namespace {

/// Nothing if another strategy did it, or none.
std::optional<Compiled> compiled(const Kernel &kernel, const Request &request,
                                 const Machine &machine) {
  Diagnostics diagnostics;
  std::optional<Compiled> result = compile(kernel, request, machine, diagnostics);
  return result && result->code.strategy == Strategy::Auto ? result : std::nullopt;
}

/// One way to start is taken, what is taken leads from one step to the next, and to the code.
TEST(SearchTest, leadsToTheCode) {
  uint32_t shared = 0;
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    RandomCodeCase drawn(seed, optionsForSeed(seed));
    const Machine machine = genericMachine();
    std::optional<Compiled> result = compiled(drawn.kernel, {}, machine);
    if (!result) {
      continue;
    }
    const std::vector<Attempt> &all = result->search.attempts;
    ASSERT_FALSE(all.empty()) << "seed " << seed;
    auto isStart = [](const Attempt &attempt) { return attempt.step == Attempt::Step::Start; };
    auto start = std::ranges::find_if(all, [&](const Attempt &a) { return a.taken && isStart(a); });
    ASSERT_NE(start, all.end()) << "seed " << seed;
    CodeCost now = start->after;
    size_t unrolled = 0;
    for (const Attempt &attempt : all) {
      if (isStart(attempt)) {
        EXPECT_TRUE(!attempt.taken || &attempt == &*start) << "seed " << seed;
        continue;
      }
      ASSERT_TRUE(attempt.before) << "seed " << seed;
      EXPECT_EQ(attempt.before->control, now.control) << "seed " << seed;
      unrolled += attempt.step == Attempt::Step::Unroll;
      shared += attempt.taken && attempt.step == Attempt::Step::Share;
      now = attempt.taken ? attempt.after : now;
    }
    EXPECT_GE(result->search.numTried, all.size() - unrolled) << "seed " << seed;
    EXPECT_EQ(now.control, controlCost(drawn.kernel, result->code, machine)) << "seed " << seed;
    EXPECT_EQ(now.operations, measure(drawn.kernel, result->code, 1).operations) << "seed " << seed;
  }
  EXPECT_GE(shared, 5u);
}

/// Without effort nothing is tried, and the code is that of the estimate.
TEST(SearchTest, withoutEffort) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    RandomCodeCase drawn(seed, optionsForSeed(seed));
    const Machine machine = genericMachine();
    Request request;
    request.effort = 0;
    std::optional<Compiled> result = compiled(drawn.kernel, request, machine);
    std::optional<Compiled> usual = compiled(drawn.kernel, {}, machine);
    if (!result || !usual) {
      continue;
    }
    EXPECT_EQ(result->search.numTried, 0u);
    EXPECT_TRUE(result->search.attempts.empty());
    EXPECT_LE(controlCost(drawn.kernel, usual->code, machine),
              controlCost(drawn.kernel, result->code, machine))
        << "seed " << seed;
  }
}

} // namespace
