//===- SplitWaitsTest.cpp - Which waits on parts are planned --------------===//
//
// `load` completes in parts, `use` waits for it; what holds the next `load` back?
//
//===----------------------------------------------------------------------===//

#include "tally/Model/KernelBuilder.h"
#include "tally/Sync/Plan.h"

#include <gtest/gtest.h>

using namespace tally;

namespace {

/// Engines `dma`, whose queue completes in 16 parts, and `act`, `pool`, `vec`.
struct Parts {
  KernelBuilder b{"k"};
  QueueId dma = b.queueOf(b.engine("dma"));
  QueueId act = b.queueOf(b.engine("act"));
  QueueId pool = b.queueOf(b.engine("pool"));
  QueueId vec = b.queueOf(b.engine("vec"));

  Parts() { b.setQueue(dma, 16, Completion::Split); }

  LoopId loop(std::string_view name, bool uniform = true) {
    return b.beginLoop(name, b.value(name), uniform);
  }

  /// The first error; empty if there is none.
  std::string plan(Strategy strategy = Strategy::PerLoop) {
    Kernel kernel = b.finish();
    PlanDecisions options;
    options.strategy = strategy;
    Diagnostics diagnostics;
    makePlan(kernel, options, diagnostics);
    for (const Diagnostic &diagnostic : diagnostics.all()) {
      if (diagnostic.severity == Severity::Error) {
        return diagnostic.message;
      }
    }
    return "";
  }
};

bool contains(const std::string &text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace

/// Each run of I begins with a load that owes nothing at distance 1 on I: only an order over the
/// whole run holds that one back, too.
TEST(SplitWaitsTest, outerLoopEntersAgain) {
  enum class Order { OnInner, Flat, ByWayOfAnother };
  auto errorOf = [](Order order) {
    Parts k;
    k.loop("O");
    LoopId inner = k.loop("I");
    InstrId ready = k.b.instr("ready", k.act);
    InstrId load = k.b.instr("load", k.dma);
    InstrId use = k.b.instr("use", k.act);
    k.b.endLoop();
    k.b.endLoop();
    k.b.dep(load, use);
    if (order == Order::OnInner) {
      k.b.dep(use, load, {{inner, 1}});
    } else if (order == Order::Flat) {
      k.b.depFlat(use, load, 1);
    } else {
      k.b.dep(ready, load); // which comes after the last 'use' on its engine
    }
    return k.plan();
  };
  std::string error = errorOf(Order::OnInner);
  EXPECT_TRUE(contains(error, "which may be issued in the next iteration of 'O' before 'use' has "
                              "waited; let 'load' depend on 'use' with 'flat 1'"))
      << error;
  EXPECT_EQ(errorOf(Order::Flat), "");
  EXPECT_EQ(errorOf(Order::ByWayOfAnother), "");
}

/// What stands in O itself runs in each of its iterations, whatever I does; between the loops of
/// two iterations it holds back the first load of the second.
TEST(SplitWaitsTest, instructionOfTheOuterLoopHoldsBack) {
  for (bool holds : {false, true}) {
    Parts k;
    LoopId outer = k.loop("O");
    InstrId begin = k.b.instr("begin", k.pool);
    LoopId inner = k.loop("I");
    InstrId load = k.b.instr("load", k.dma);
    InstrId use = k.b.instr("use", k.act);
    k.b.endLoop();
    k.b.endLoop();
    k.b.dep(load, use);
    k.b.dep(use, load, {{inner, 1}});
    k.b.dep(begin, load);
    if (holds) {
      k.b.dep(use, begin, {{outer, 1}});
    }
    EXPECT_EQ(k.plan().empty(), holds);
  }
}

/// Nothing shows that a branch runs, so nothing of what it would order: neither what depends on it
/// in the next iteration, nor in this one, nor what follows on its engine.
TEST(SplitWaitsTest, branchInBetweenOrdersNothing) {
  enum class Way { NextIteration, SameIteration, Engine };
  for (Way way : {Way::NextIteration, Way::SameIteration, Way::Engine}) {
    for (bool sometimes : {false, true}) {
      Parts k;
      LoopId a = k.loop("A");
      InstrId before = k.b.instr("before", k.pool);
      InstrId load = k.b.instr("load", k.dma);
      InstrId use = k.b.instr("use", k.act);
      if (sometimes) {
        k.b.beginIf("c");
      }
      InstrId store = k.b.instr("store", k.pool);
      if (sometimes) {
        k.b.endIf();
      }
      InstrId after = k.b.instr("after", k.vec);
      k.b.endLoop();
      k.b.dep(load, use);
      k.b.dep(use, store);
      if (way == Way::NextIteration) {
        k.b.dep(store, load, {{a, 1}});
      } else if (way == Way::SameIteration) {
        k.b.dep(store, after);
        k.b.dep(after, load, {{a, 1}});
      } else {
        k.b.dep(before, load); // the next one, which 'pool' issues after 'store'
      }
      EXPECT_EQ(k.plan().empty(), !sometimes) << static_cast<int>(way);
    }
  }
}

/// In one branch, each that runs comes with the others.
TEST(SplitWaitsTest, branchHoldsBackWhatItHolds) {
  Parts k;
  LoopId a = k.loop("A");
  k.b.beginIf("c");
  InstrId load = k.b.instr("load", k.dma);
  InstrId use = k.b.instr("use", k.act);
  k.b.endIf();
  k.b.endLoop();
  k.b.dep(load, use);
  k.b.dep(use, load, {{a, 1}});
  EXPECT_EQ(k.plan(), "");
}

/// If each load waits for the one before it, parts of two never meet: a wait may then be for any of
/// them.
TEST(SplitWaitsTest, oneByOneMayBeWaitedForAtAnyDistance) {
  for (bool oneByOne : {false, true}) {
    Parts k;
    LoopId a = k.loop("A");
    InstrId load = k.b.instr("load", k.dma);
    InstrId use = k.b.instr("use", k.act);
    k.b.endLoop();
    k.b.dep(load, use, {{a, 3}});
    if (oneByOne) {
      k.b.depFlat(load, load, 1);
    }
    EXPECT_EQ(k.plan().empty(), oneByOne);
  }
}

/// What retires later on the same queue tells as much as the load itself.
TEST(SplitWaitsTest, queueRetiresInOrder) {
  for (bool sameQueue : {false, true}) {
    Parts k;
    LoopId a = k.loop("A");
    InstrId load = k.b.instr("load", k.dma);
    InstrId use = k.b.instr("use", k.act);
    InstrId store = k.b.instr("store", sameQueue ? k.dma : k.pool);
    k.b.endLoop();
    k.b.dep(load, use, {{a, 3}});
    k.b.depFlat(store, load, 1);
    EXPECT_EQ(k.plan().empty(), sameQueue);
  }
}

/// An instruction that waits for its own last run has been issued when the wait has passed, not
/// before.
TEST(SplitWaitsTest, ownRunIsNotAhead) {
  Parts k;
  LoopId a = k.loop("A");
  InstrId load = k.b.instr("load", k.dma);
  k.b.endLoop();
  k.b.dep(load, load, {{a, 1}});
  EXPECT_EQ(k.plan(), "");
}

/// The engine that waits counts three loads, the other one issues a fourth.
TEST(SplitWaitsTest, divergentLoopsAreNotCountedAlike) {
  for (bool uniform : {true, false}) {
    Parts k;
    k.loop("A", uniform);
    InstrId load = k.b.instr("load", k.dma);
    k.b.endLoop();
    k.b.allowDivergent(k.b.dep(load, k.b.instr("use", k.act)));
    std::string error = k.plan();
    EXPECT_EQ(error.empty(), uniform);
    EXPECT_TRUE(uniform || contains(error, "let all engines agree on that loop")) << error;
  }
}

/// Engines that meet between iterations leave nothing under way, in any loop around.
TEST(SplitWaitsTest, meetingAtABackEdgeHoldsBack) {
  for (bool meets : {false, true}) {
    Parts k;
    k.loop("O");
    LoopId inner = k.loop("I");
    k.b.setSync(inner, meets ? RegionSync::Barrier : RegionSync::PerLoop);
    InstrId load = k.b.instr("load", k.dma);
    InstrId use = k.b.instr("use", k.act);
    k.b.endLoop();
    k.b.endLoop();
    k.b.dep(load, use);
    k.b.dep(use, load, {{inner, 1}});
    EXPECT_EQ(k.plan().empty(), meets);
  }
}

/// The wait is for the load of the iteration before, but this iteration's comes first.
TEST(SplitWaitsTest, loadOfTheSameIterationIsNamed) {
  Parts k;
  LoopId a = k.loop("A");
  InstrId load = k.b.instr("load", k.dma);
  InstrId use = k.b.instr("use", k.act);
  k.b.endLoop();
  k.b.dep(load, use, {{a, 1}});
  std::string error = k.plan();
  EXPECT_TRUE(contains(error, "which may be issued in the same iteration of 'A' before 'use' has "
                              "waited; let 'load' depend on 'use'"))
      << error;
}
