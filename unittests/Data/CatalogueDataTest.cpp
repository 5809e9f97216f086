//===- CatalogueDataTest.cpp - Every kernel computes what it should -------===//

#include "CatalogueCase.h"

#include "tally/Compile/Compile.h"

using namespace tally;

/// One by one in the order of the text, no kernel reads what nobody wrote.
TEST(CatalogueDataTest, sequentialRunsHaveNoFaults) {
  for (const CatalogueEntry &entry : catalogue()) {
    CatalogueCase one(entry);
    ASSERT_TRUE(one.effects) << entry.name;
    DataRun run = one.after(one.runs.order());
    EXPECT_EQ(one.faultsOf(run), "") << entry.name;
    EXPECT_GT(one.runs.order().size(), 9U) << entry.name;
    EXPECT_FALSE(one.sameMemory(run, one.after({}))) << entry.name;
  }
}

/// Whoever waits, and however long instructions take: the same bits in all of memory.
TEST(CatalogueDataTest, everyStrategyComputesTheSame) {
  size_t numRuns = 0, numOrders = 0;
  for (const CatalogueEntry &entry : catalogue()) {
    CatalogueCase one(entry);
    DataRun sequential = one.after(one.runs.order());
    for (Strategy strategy : strategies) {
      std::optional<Code> program = one.program(strategy);
      for (uint64_t seed = 0; program && seed < 5; ++seed) {
        std::vector<Instance> order = one.simulated(*program, seed);
        DataRun run = one.after(order);
        EXPECT_EQ(order.size(), one.runs.order().size());
        EXPECT_TRUE(one.sameMemory(run, sequential))
            << entry.name << " " << toString(strategy) << " seed " << seed;
        EXPECT_EQ(one.faultsOf(run), "") << entry.name << " " << toString(strategy);
        ++numRuns;
        numOrders += order != one.runs.order();
      }
    }
  }
  // Of 9 kernels with 7 strategies, 3 cannot be unrolled.
  EXPECT_EQ(numRuns, (9U * 7 - 3) * 5);
  EXPECT_GT(numOrders, numRuns / 2);
}

/// Nothing that synchronises takes time, so instructions come as close to one another as they may.
TEST(CatalogueDataTest, idealRunsComputeTheSame) {
  for (const CatalogueEntry &entry : catalogue()) {
    CatalogueCase one(entry);
    DataRun sequential = one.after(one.runs.order());
    Diagnostics diagnostics;
    std::optional<Compiled> ideal =
        compile(one.kernel(), {.strategy = Strategy::Ideal}, one.machine, diagnostics);
    ASSERT_TRUE(ideal) << render(diagnostics, {});
    for (uint64_t seed = 0; seed < 5; ++seed) {
      DataRun run = one.after(one.simulated(ideal->code, seed, true));
      EXPECT_TRUE(one.sameMemory(run, sequential)) << entry.name << " seed " << seed;
      EXPECT_EQ(one.faultsOf(run), "") << entry.name;
    }
  }
}
