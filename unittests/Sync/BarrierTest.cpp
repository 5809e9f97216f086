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

/// B carries nothing, so no engines meet at its back edge. x -> P crosses B's entry and P -> C its
/// exit: their engines meet there. A carries C -> x.
TEST(BarrierTest, endsMeetWhereADependenceCrosses) {
  Nest nest;
  Diagnostics diagnostics;
  SyncPlan plan = planBarrier(nest.kernel, Participants::Work, diagnostics);
  EXPECT_EQ(plan.barriers[nest.b].entry, (Engines{e0, e1}));
  EXPECT_EQ(plan.barriers[nest.b].back, Engines());
  EXPECT_EQ(plan.barriers[nest.b].exit, (Engines{e1, e2}));
  EXPECT_EQ(plan.barriers[nest.a].entry, Engines());
  EXPECT_EQ(plan.barriers[nest.a].back, (Engines{e0, e2}));
  EXPECT_EQ(plan.barriers[nest.a].exit, Engines());
  EXPECT_TRUE(diagnostics.all().empty());
}

/// A { u@e0; v@e1 }, u -> v at the given distance. Then w@e1 after the loop depends on u.
struct Row {
  LoopId a;
  Kernel kernel;

  explicit Row(int64_t distance, bool uniform = true) {
    KernelBuilder builder("row");
    for (const char *name : {"e0", "e1", "e2"}) {
      builder.engine(name);
    }
    a = builder.beginLoop("A", builder.value("n"), uniform);
    InstrId u = builder.instr("u", builder.queueOf(e0));
    InstrId v = builder.instr("v", builder.queueOf(e1));
    builder.instr("alone", builder.queueOf(e2));
    builder.endLoop();
    InstrId w = builder.instr("w", builder.queueOf(e1));
    if (uniform) {
      builder.dep(u, w);
    }
    if (distance == 0) {
      builder.dep(u, v);
    } else {
      builder.dep(u, v, {{a, distance}});
    }
    kernel = builder.finish();
  }
};

/// Carried, or counted in the body and reset: its ends meet at the back edge, and what leaves the
/// loop between the same engines needs no barrier of its own. Others in the loop run on.
TEST(BarrierTest, theLastBackEdgeStandsForTheExit) {
  for (int64_t distance : {0, 1}) {
    Row row(distance);
    Diagnostics diagnostics;
    SyncPlan plan = planBarrier(row.kernel, Participants::Work, diagnostics);
    EXPECT_EQ(plan.barriers[row.a].entry, Engines());
    EXPECT_EQ(plan.barriers[row.a].back, (Engines{e0, e1}));
    EXPECT_EQ(plan.barriers[row.a].exit, Engines());
  }
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

/// The published form: every engine, at each entry and back edge; but a loop of one engine that
/// carries nothing has no back edge barrier, and what leaves it meets behind it.
TEST(BarrierTest, allMeansEveryEngine) {
  Nest nest;
  Diagnostics diagnostics;
  SyncPlan plan = planBarrier(nest.kernel, Participants::All, diagnostics);
  const Engines every = {e0, e1, e2};
  EXPECT_EQ(plan.barriers[nest.a].entry, every);
  EXPECT_EQ(plan.barriers[nest.a].back, every);
  EXPECT_EQ(plan.barriers[nest.a].exit, Engines());
  EXPECT_EQ(plan.barriers[nest.b].entry, every);
  EXPECT_EQ(plan.barriers[nest.b].back, Engines());
  EXPECT_EQ(plan.barriers[nest.b].exit, every);
  SyncPlan apart = planBarrier(Nest(true, false).kernel, Participants::All, diagnostics);
  EXPECT_EQ(apart.barriers[nest.b].exit, Engines());
}

/// A { x@e0; B of 4 trips { P@e1; Q@e1 }; R@e1; C@e2 }: B is as if it were written out.
struct Inner {
  LoopId a, b;
  std::vector<DepId> deps;
  Kernel kernel;

  explicit Inner(uint64_t trips, bool carries = false) {
    KernelBuilder builder("inner");
    for (const char *name : {"e0", "e1", "e2"}) {
      builder.engine(name);
    }
    a = builder.beginLoop("A", builder.value("n"));
    InstrId x = builder.instr("x", builder.queueOf(e0));
    b = builder.beginLoop("B", KernelBuilder::constant(trips));
    InstrId p = builder.instr("P", builder.queueOf(e1));
    InstrId q = builder.instr("Q", builder.queueOf(e1));
    builder.endLoop();
    InstrId r = builder.instr("R", builder.queueOf(e1));
    InstrId c = builder.instr("C", builder.queueOf(e2));
    builder.endLoop();
    deps = {builder.dep(x, p), builder.dep(p, c), builder.dep(q, c), builder.dep(r, c)};
    if (carries) {
      builder.dep(p, q, {{b, 1}});
    }
    kernel = builder.finish();
  }

  /// 0 where it is left to a barrier.
  uint32_t threshold(const SyncPlan &plan, size_t dep) const {
    const Wait &wait = plan.waits[deps[dep]];
    return wait.waitClass == WaitClass::Static ? plan.exprs[wait.threshold].a : 0;
  }
};

TEST(BarrierTest, aLoopOfOneEngineHasNoBarrierCode) {
  Inner inner(4);
  Diagnostics diagnostics;
  SyncPlan plan = planBarrier(inner.kernel, Participants::All, diagnostics);
  const LoopBarriers &barriers = plan.barriers[inner.b];
  EXPECT_TRUE(barriers.entry.empty() && barriers.back.empty() && barriers.exit.empty());
  EXPECT_EQ(plan.barriers[inner.a].back, (Engines{e0, e1, e2}));
  EXPECT_EQ(inner.threshold(plan, 0), 1u);
  EXPECT_EQ(inner.threshold(plan, 1), 7u); // P and Q in turn, four times
  EXPECT_EQ(inner.threshold(plan, 2), 8u);
  EXPECT_EQ(inner.threshold(plan, 3), 9u);
}

/// Where parts of a queue may mix, each instruction has a semaphore of its own, which counts it
/// alone; and a loop that repeats it has barriers.
TEST(BarrierTest, whatMayMixIsCountedAlone) {
  KernelBuilder builder("mixed");
  for (const char *name : {"e0", "e1", "e2"}) {
    builder.engine(name);
  }
  builder.setQueue(builder.queueOf(e0), 16, Completion::Split);
  builder.beginLoop("A", builder.value("n"));
  InstrId x = builder.instr("x", builder.queueOf(e0));
  InstrId y = builder.instr("y", builder.queueOf(e0));
  builder.beginLoop("B", KernelBuilder::constant(4));
  InstrId p = builder.instr("P", builder.queueOf(e1));
  InstrId q = builder.instr("Q", builder.queueOf(e1));
  builder.endLoop();
  InstrId c = builder.instr("C", builder.queueOf(e2));
  LoopId repeats = builder.beginLoop("D", KernelBuilder::constant(4));
  InstrId z = builder.instr("z", builder.queueOf(e0));
  builder.endLoop();
  InstrId w = builder.instr("w", builder.queueOf(e2));
  builder.endLoop();
  builder.dep(z, w);
  const std::pair<DepId, uint32_t> expected[] = {{builder.dep(x, c), 16},
                                                 {builder.dep(y, p), 16},
                                                 {builder.dep(p, c), 7},
                                                 {builder.dep(q, c), 8}};
  Kernel kernel = builder.finish();
  Diagnostics diagnostics;
  SyncPlan plan = planBarrier(kernel, Participants::All, diagnostics);
  for (auto [dep, threshold] : expected) {
    ASSERT_EQ(plan.waits[dep].waitClass, WaitClass::Static);
    EXPECT_EQ(plan.exprs[plan.waits[dep].threshold].a, threshold);
  }
  EXPECT_EQ(plan.barriers[repeats].exit, (Engines{e0, e1, e2}));
  EXPECT_FALSE(diagnostics.hasErrors()) << render(diagnostics, kernel.files);
}

/// Not if it orders its own runs, never runs, or would count more than a counter holds.
TEST(BarrierTest, otherInnerLoopsHaveBarriers) {
  Diagnostics diagnostics;
  for (const Inner &inner : {Inner(4, true), Inner(0), Inner(maxCount)}) {
    SyncPlan plan = planBarrier(inner.kernel, Participants::All, diagnostics);
    EXPECT_EQ(plan.barriers[inner.b].entry, (Engines{e0, e1, e2}));
    EXPECT_EQ(inner.threshold(plan, 1), 0u);
    EXPECT_EQ(inner.threshold(plan, 3), 1u);
  }
  EXPECT_TRUE(diagnostics.all().empty());
}

/// A loop that may run differently often on different engines: two engines cannot meet in it. One
/// of them alone may, and needs not even that.
TEST(BarrierTest, divergentLoopIsRefusedWhereTwoMeetInIt) {
  Nest nest(/*uniformB=*/false, /*leavesB=*/false);
  for (Participants participants : {Participants::Work, Participants::All}) {
    Diagnostics alone;
    planBarrier(nest.kernel, participants, alone);
    EXPECT_FALSE(alone.hasErrors());
  }
  Diagnostics together;
  planBarrier(Row(1, /*uniform=*/false).kernel, Participants::Work, together);
  ASSERT_EQ(together.numErrors(), 1u);
  EXPECT_EQ(together.all()[0].message,
            "barriers cannot stand for 'u' -> 'v' at 'A' = 1, which waits for as many runs as its "
            "own engine counts: engines may disagree on how often 'A' runs, around 'u'; make 'A' "
            "uniform, or use a strategy without barriers");
  EXPECT_EQ(together.all()[0].notes.size(), 2u);
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
