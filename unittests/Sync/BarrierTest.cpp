//===- BarrierTest.cpp - Which engines meet where -------------------------===//

#include "tally/Model/KernelBuilder.h"
#include "tally/Sync/Plan.h"

#include <gtest/gtest.h>

using namespace tally;

namespace {

using Engines = std::vector<EngineId>;

constexpr EngineId e0{0}, e1{1}, e2{2};

/// A { x@e0; B { P@e1 } C@e2 }, x -> P and P -> C at distance 0, C -> x one iteration later. Or C
/// depends on x in the place of P, which is then nobody's producer.
struct Nest {
  LoopId a, b;
  Kernel kernel;

  explicit Nest(bool uniformB = true, bool leavesB = true) {
    KernelBuilder builder("nest");
    for (const char *name : {"e0", "e1", "e2"}) {
      builder.engine(name);
    }
    a = builder.beginLoop("A", builder.value("n"));
    InstrId x = builder.instr("x", builder.queueOf(e0));
    b = builder.beginLoop("B", builder.value("m"), uniformB);
    InstrId p = builder.instr("P", builder.queueOf(e1));
    builder.endLoop();
    InstrId c = builder.instr("C", builder.queueOf(e2));
    builder.endLoop();
    builder.dep(x, p);
    builder.dep(leavesB ? p : x, c);
    builder.dep(c, x, {{a, 1}});
    kernel = builder.finish();
  }
};

SyncPlan planBarrier(const Kernel &kernel, Participants participants, Diagnostics &diagnostics) {
  PlanDecisions options;
  options.strategy = Strategy::Barrier;
  options.participants = participants;
  return makePlan(kernel, options, diagnostics);
}

} // namespace

/// Only e1 works in B, so it alone meets (drains) at B's back edge; x -> P crosses B's entry and P
/// -> C its exit, so their engines join there. All three work in A.
TEST(BarrierTest, workAndCrossingDependencesMeet) {
  Nest nest;
  Diagnostics diagnostics;
  SyncPlan plan = planBarrier(nest.kernel, Participants::Work, diagnostics);
  EXPECT_EQ(plan.barriers[nest.b].entry, (Engines{e0, e1}));
  EXPECT_EQ(plan.barriers[nest.b].back, (Engines{e1}));
  EXPECT_EQ(plan.barriers[nest.b].exit, (Engines{e1, e2}));
  EXPECT_EQ(plan.barriers[nest.a].entry, (Engines{e0, e1, e2}));
  EXPECT_EQ(plan.barriers[nest.a].back, (Engines{e0, e1, e2}));
  EXPECT_EQ(plan.barriers[nest.a].exit, Engines());
  EXPECT_TRUE(diagnostics.all().empty());
}

/// Barriers stand for all three dependences: nothing is left to wait for.
TEST(BarrierTest, coveredDependencesNeedNoSemaphore) {
  Nest nest;
  Diagnostics diagnostics;
  SyncPlan plan = planBarrier(nest.kernel, Participants::Work, diagnostics);
  EXPECT_TRUE(plan.groups.empty());
  for (const Wait &wait : plan.waits) {
    EXPECT_EQ(wait.waitClass, WaitClass::CoveredByBarrier);
  }
}

/// The published form: every engine, at each entry and back edge.
TEST(BarrierTest, allMeansEveryEngine) {
  Nest nest;
  Diagnostics diagnostics;
  SyncPlan plan = planBarrier(nest.kernel, Participants::All, diagnostics);
  for (LoopId loop : {nest.a, nest.b}) {
    EXPECT_EQ(plan.barriers[loop].entry, (Engines{e0, e1, e2}));
    EXPECT_EQ(plan.barriers[loop].back, (Engines{e0, e1, e2}));
  }
}

/// B may run differently often on different engines. One engine alone may still drain at its back
/// edge, but two cannot meet there.
TEST(BarrierTest, divergentLoopIsRefusedWhereTwoMeetInIt) {
  Nest nest(/*uniformB=*/false, /*leavesB=*/false);
  Diagnostics alone;
  planBarrier(nest.kernel, Participants::Work, alone);
  EXPECT_FALSE(alone.hasErrors());
  Diagnostics together;
  planBarrier(nest.kernel, Participants::All, together);
  ASSERT_EQ(together.numErrors(), 1u);
  EXPECT_EQ(together.all()[0].message,
            "a barrier at the back edge of 'B' cannot join 'e0' and 'e1': they may disagree on how "
            "often 'B' runs; use a strategy without barriers");
  EXPECT_EQ(together.all()[0].notes.size(), 1u);
}

/// A dependence that leaves an `if` needs a barrier behind it; one that enters it is a static wait,
/// because the producer's count is the same in both branches.
TEST(BarrierTest, ifHasOnlyAnExitBarrier) {
  KernelBuilder b("k");
  b.engine("e0");
  b.engine("e1");
  InstrId x = b.instr("x", b.queueOf(e0));
  LoopId branch = b.beginIf("c");
  InstrId p = b.instr("P", b.queueOf(e1));
  b.endIf();
  InstrId c = b.instr("C", b.queueOf(e0));
  b.dep(x, p);
  b.dep(p, c);
  Kernel kernel = b.finish();
  Diagnostics diagnostics;
  SyncPlan plan = planBarrier(kernel, Participants::Work, diagnostics);
  EXPECT_EQ(plan.barriers[branch].entry, Engines());
  EXPECT_EQ(plan.barriers[branch].exit, (Engines{e0, e1}));
  EXPECT_EQ(plan.waits[DepId(0)].waitClass, WaitClass::Static);
  EXPECT_EQ(plan.waits[DepId(1)].waitClass, WaitClass::CoveredByBarrier);
}
