//===- OrderTest.cpp - What each issue has surely waited for --------------===//

#include "oracle/Order.h"
#include "RandomKernel.h"
#include "oracle/PlanComparison.h"

#include "tally/Lower/Lower.h"
#include "tally/Written/Text.h"

#include <gtest/gtest.h>

using namespace tally;
using namespace tally::fuzz;
using namespace tally::oracle;

namespace {

/// load on dma, use on act: a buffer that is filled again two iterations later.
Kernel doubleBuffer(uint64_t trips) {
  KernelBuilder b("double_buffer");
  EngineId dma = b.engine("dma"), act = b.engine("act");
  LoopId a = b.beginLoop("A", KernelBuilder::constant(trips));
  InstrId load = b.instr("load", b.queueOf(dma));
  InstrId use = b.instr("use", b.queueOf(act));
  b.endLoop();
  b.dep(load, use);
  b.dep(use, load, {{a, 2}});
  return b.finish();
}

std::optional<Code> programOf(const Kernel &kernel, Strategy strategy) {
  PlanDecisions options;
  options.strategy = strategy;
  Diagnostics diagnostics;
  SyncPlan plan = makePlan(kernel, options, diagnostics);
  if (diagnostics.hasErrors()) {
    return std::nullopt;
  }
  return lower(kernel, plan, genericMachine(), {}, diagnostics);
}

IssueOrder definitionOf(const Kernel &kernel, const Bindings &bindings) {
  return orderOfDefinition(kernel, oracle::defineAll(kernel, bindings));
}

using Rows = std::vector<uint32_t>;

} // namespace

/// By hand: load i waits for use i-2, which has waited for load i-2 (row: dma, act). use i waits
/// for load i, and so for use i-2 as well.
TEST(OrderTest, doubleBufferByHand) {
  Kernel kernel = doubleBuffer(4);
  IssueOrder order = definitionOf(kernel, Bindings(kernel));
  ASSERT_EQ(order.state, IssueOrder::State::Complete);
  EXPECT_EQ(order.known[EngineId(0)], (Rows{0, 0, 0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(order.known[EngineId(1)], (Rows{1, 0, 2, 0, 3, 1, 4, 2}));
}

TEST(OrderTest, codeOfEveryStrategyAgrees) {
  Kernel kernel = doubleBuffer(4);
  Bindings bindings(kernel);
  IssueOrder asked = definitionOf(kernel, bindings);
  for (Strategy strategy :
       {Strategy::Unrolled, Strategy::PerInstruction, Strategy::PerLoop, Strategy::PerEngine}) {
    IssueOrder order = orderOf(kernel, *programOf(kernel, strategy), genericMachine(), bindings);
    EXPECT_EQ(compare(asked, order), Agreement::Exact) << toString(strategy);
  }
  IssueOrder barrier =
      orderOf(kernel, *programOf(kernel, Strategy::Barrier), genericMachine(), bindings);
  EXPECT_EQ(compare(asked, barrier), Agreement::Safe);
}

/// A threshold one too low lets the consumer go before its producer; one too high is never
/// reached in the last iteration.
TEST(OrderTest, wrongThresholdsAreSeen) {
  Kernel kernel = doubleBuffer(2);
  Bindings bindings(kernel);
  IssueOrder asked = definitionOf(kernel, bindings);
  Code code = *programOf(kernel, Strategy::Unrolled);
  for (int change : {-1, 1}) {
    Code wrong = code;
    uint32_t changed = 0;
    for (Op &op : wrong.engines[EngineId(1)].ops) {
      if (op.wait.valid()) {
        op.a.value += change;
        ++changed;
      }
    }
    ASSERT_EQ(changed, 2u);
    IssueOrder order = orderOf(kernel, wrong, genericMachine(), bindings);
    EXPECT_EQ(compare(asked, order), Agreement::Wrong);
    EXPECT_EQ(order.state, change > 0 ? IssueOrder::State::Deadlock : IssueOrder::State::Complete);
    EXPECT_EQ(difference(kernel, asked, order),
              change < 0 ? "run 0 of 'use' waits until 0 instructions of 'dma' have retired, but "
                           "its dependences ask for 1"
                         : "run 0 of 'use' waits until 2 instructions of 'dma' have retired, but "
                           "its dependences ask for 1");
  }
}

/// Thresholds turned into retirements, and vector clocks over one schedule, know nothing of
/// each other.
TEST(OrderTest, countingAndScheduleAgree) {
  uint32_t compared = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    RandomKernelOptions options;
    options.divergentPercent = seed % 3 == 0 ? 30 : 0;
    Kernel kernel = randomKernel(seed, options);
    Bindings bindings = randomBindings(kernel, seed);
    for (Strategy strategy : {Strategy::PerInstruction, Strategy::PerLoop, Strategy::PerEngine}) {
      std::optional<Code> code = programOf(kernel, strategy);
      if (!code) {
        continue;
      }
      IssueOrder a = orderOfCounting(kernel, *code, genericMachine(), bindings);
      IssueOrder b = orderOfSchedule(kernel, *code, genericMachine(), bindings);
      if (a.state == IssueOrder::State::Unknown || b.state == IssueOrder::State::Unknown) {
        continue;
      }
      ++compared;
      ASSERT_TRUE(a == b) << "seed " << seed << ", " << toString(strategy) << ": "
                          << difference(kernel, a, b) << "\n"
                          << dump(kernel);
    }
  }
  EXPECT_GT(compared, 2500u);
}
