//===- SchedulersTest.cpp - Each way to schedule keeps its word -----------===//

#include "Schedulers.h"
#include "tally/Compile/Compile.h"
#include "tally/Model/KernelBuilder.h"

#include <gtest/gtest.h>

#include <set>

using namespace tally;
using namespace tally::check;

namespace {

/// Two engines, one of which has a second queue that completes in parts; nothing waits.
class SchedulersTest : public testing::Test {
protected:
  SchedulersTest() : kernel(makeKernel()), machine(genericMachine()), bindings(kernel) {
    Diagnostics diagnostics;
    program = compile(kernel, {.strategy = Strategy::PerLoop}, machine, diagnostics);
    system.emplace(kernel, program->code, machine, bindings);
  }

  static Kernel makeKernel() {
    KernelBuilder b("k");
    EngineId act = b.engine("act"), dma = b.engine("dma");
    QueueId parts = b.queue("parts", 2, Completion::Split);
    b.beginLoop("A", KernelBuilder::constant(3));
    b.instr("one", b.queueOf(dma));
    b.instr("two", parts);
    b.instr("use", b.queueOf(act));
    b.endLoop();
    return b.finish();
  }

  /// Runs a schedule to its end; `judge` sees each state with the step that is taken there.
  template <typename Judge> std::vector<Step> run(uint32_t number, uint64_t seed, Judge judge) {
    Scheduler scheduler(kernel, number, seed);
    ImplState state = system->initial();
    std::vector<Step> steps;
    while (std::optional<Step> step = scheduler.next(*system, state)) {
      EXPECT_TRUE(system->isEnabled(state, *step)) << scheduler.name();
      judge(state, *step);
      system->apply(state, *step);
      steps.push_back(*step);
    }
    EXPECT_TRUE(system->finished(state)) << scheduler.name();
    return steps;
  }

  std::vector<Step> run(uint32_t number, uint64_t seed) {
    return run(number, seed, [](const ImplState &, const Step &) {});
  }

  /// Whether an engine could take a step.
  bool canMove(const ImplState &state, EngineId engine) {
    std::vector<Step> steps;
    system->enabled(state, steps);
    return std::any_of(steps.begin(), steps.end(),
                       [&](const Step &step) { return step.engine == engine && isOfEngine(step); });
  }

  static bool isOfEngine(const Step &step) {
    return step.kind == StepKind::Control || step.kind == StepKind::Issue;
  }

  uint32_t numberOf(const std::string &name) {
    uint32_t number = 0;
    while (number < 30 && Scheduler(kernel, number, 1).name() != name) {
      ++number;
    }
    return number;
  }

  Kernel kernel;
  Machine machine;
  Bindings bindings;
  std::optional<Compiled> program;
  std::optional<ImplSystem> system;
};

} // namespace

/// Every schedule ends, and its number and seed say all about it.
TEST_F(SchedulersTest, aNumberAndASeedAreOneSchedule) {
  std::set<std::string> ways;
  for (uint32_t number = 0; number < 60; ++number) {
    std::vector<Step> steps = run(number, 7);
    EXPECT_EQ(steps, run(number, 7)) << number;
    std::string way;
    for (const Step &step : steps) {
      way += describe(kernel, step) + "\n";
    }
    ways.insert(way);
  }
  EXPECT_GT(ways.size(), 30u) << "they differ from one another";
}

TEST_F(SchedulersTest, lateRetirementLetsEnginesGoFirst) {
  ASSERT_LT(numberOf("late retirement"), 30u);
  run(numberOf("late retirement"), 1, [&](const ImplState &state, const Step &step) {
    for (EngineId engine : kernel.engines.ids()) {
      EXPECT_TRUE(isOfEngine(step) || !canMove(state, engine));
    }
  });
}

TEST_F(SchedulersTest, earlyRetirementLetsThemGoLast) {
  ASSERT_LT(numberOf("early retirement"), 30u);
  run(numberOf("early retirement"), 1, [&](const ImplState &state, const Step &step) {
    bool isIdle = std::all_of(state.queues.begin(), state.queues.end(),
                              [](const QueueState &queue) { return queue.inFlight() == 0; });
    EXPECT_TRUE(!isOfEngine(step) || isIdle);
  });
}

TEST_F(SchedulersTest, oneEngineFirstAndStarved) {
  EngineId act(0);
  ASSERT_LT(numberOf("engine 'act' first"), 30u);
  run(numberOf("engine 'act' first"), 1, [&](const ImplState &state, const Step &step) {
    EXPECT_TRUE((step.engine == act && isOfEngine(step)) || !canMove(state, act));
  });
  ASSERT_LT(numberOf("engine 'act' starved"), 30u);
  run(numberOf("engine 'act' starved"), 1, [&](const ImplState &state, const Step &step) {
    bool isAct = step.engine == act && isOfEngine(step);
    EXPECT_TRUE(!isAct || !canMove(state, EngineId(1)));
  });
}

/// With one ring starved the other delivers everything first.
TEST_F(SchedulersTest, oneRingStarved) {
  uint32_t number = numberOf("ring 1 of 'parts' starved");
  ASSERT_LT(number, 30u);
  uint32_t ahead = 0;
  run(number, 1, [&](const ImplState &, const Step &step) {
    if (step.kind == StepKind::Deliver) {
      ahead += step.index == 0;
      EXPECT_TRUE(step.index == 0 || ahead == 3);
    }
  });
  EXPECT_EQ(ahead, 3u);
}
